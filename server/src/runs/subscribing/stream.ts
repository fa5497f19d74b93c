import { type EventOnWire, type OutputEvent, streamQuery } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { parseQuery } from "../../base/parse.ts";
import { summarize } from "../../events/index.ts";
import { missingRun } from "../../retention/index.ts";
import { permitRuns } from "../access.ts";
import type { RunRef } from "../run.ts";
import { createOutputBuffer, type OutputBuffer } from "./output-buffer.ts";
import { findProgress, type Progress } from "./stream-store.ts";
import { type SubscribePorts, subscribeToRun } from "./subscribe.ts";

/** A stream of a run's events that has not started yet. */
export interface RunStream {
  readonly agentId: string;
  /** Starts the stream. The caller must iterate it to its end, or abort `signal`. */
  readonly events: (signal: AbortSignal) => AsyncIterable<EventOnWire | OutputEvent>;
}

/**
 * Opens a stream of a run's events: those after the cursor, and then those that the run adds.
 * @returns undefined if the run has finished and the cursor is its last event.
 * @throws ApiError `forbidden`; `not_found`; `bad_request` if the cursor is malformed, or is after
 *   the run's final event.
 */
export async function streamRun({
  ctx,
  input: { runId, query, lastEventId },
}: {
  ctx: Context & { runs: SubscribePorts };
  input: { runId: string; query: unknown; lastEventId: string | undefined };
}): Promise<RunStream | undefined> {
  const progress = await readProgress(ctx, runId);
  const { after, view } = parseQuery(streamQuery, query);
  const run = { runId, workspaceId: ctx.workspaceId };
  const stream = streamAfter(ctx.runs, run, progress, cursorOf(after, lastEventId));
  if (stream === undefined || view === "full") return stream;
  return { ...stream, events: (signal) => summaries(stream.events(signal)) };
}

/**
 * Returns the progress of a run that the actor can see. Reads none of its texts.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function readProgress(ctx: Context, runId: string): Promise<Progress> {
  const agentIds = permitRuns(ctx, "runs:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const progress = await findProgress(tx, ctx.workspaceId, runId, agentIds);
    if (progress === undefined) throw await missingRun(tx, ctx, runId);
    return progress;
  });
}

/**
 * Yields summaries of the events. Yields the start and the end of the model's output, but no
 * deltas.
 */
async function* summaries(
  events: AsyncIterable<EventOnWire | OutputEvent>,
): AsyncGenerator<EventOnWire | OutputEvent> {
  for await (const event of events) {
    if ("seq" in event) yield summarize(event);
    else if (event.type !== "run.output.delta") yield event;
  }
}

/**
 * Opens the stream for the caller whose request started the run. `lastEventId` is ignored unless
 * the request is a repeated one: only then can the caller have read a part of the stream before.
 * @returns undefined if there is nothing to stream (see `streamRun`), or if the run was deleted.
 * @throws ApiError `bad_request` in the same cases as `streamRun`.
 */
export async function streamStarted(
  ports: SubscribePorts,
  run: RunRef & { readonly agentId: string; readonly replayed: boolean },
  { lastEventId, output }: { lastEventId: string | undefined; output: OutputBuffer },
): Promise<RunStream | undefined> {
  const after = run.replayed ? readCursor(lastEventId) : 0;
  if (after === 0) return open(ports, run, { agentId: run.agentId, after, output });
  const progress = await inWorkspace(ports.database.tenant, run.workspaceId, (tx) =>
    findProgress(tx, run.workspaceId, run.runId, undefined),
  );
  return progress && streamAfter(ports, run, progress, after, output);
}

/**
 * Parses the header `Last-Event-ID`.
 * @returns the sequence number in the header; 0 if the header is missing or empty.
 * @throws ApiError `bad_request` if the header is not a whole number of at most 9 digits.
 */
export function readCursor(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === "") return 0;
  if (/^\d{1,9}$/.test(lastEventId)) return Number(lastEventId);
  throw new ApiError(
    "bad_request",
    "Last-Event-ID must be the id of an event of this stream, a whole number of at most 9 digits. Leave it out to read from the beginning.",
  );
}

/**
 * Returns the sequence number after which the stream starts. The header `Last-Event-ID` takes
 * precedence over the query parameter `after`: an `EventSource` that reconnects sends the same URL
 * again and adds the header, which is newer.
 */
function cursorOf(after: string | undefined, lastEventId: string | undefined): number {
  return lastEventId === undefined || lastEventId === ""
    ? Number(after ?? 0)
    : readCursor(lastEventId);
}

function streamAfter(
  ports: SubscribePorts,
  run: RunRef,
  { agentId, lastSeq, finished }: Progress,
  after: number,
  output = createOutputBuffer(),
): RunStream | undefined {
  if (after > lastSeq) {
    throw new ApiError(
      "bad_request",
      `The run has no event ${after}: its last event is ${lastSeq}. Continue after an event that you have received.`,
    );
  }
  return finished && after === lastSeq
    ? undefined
    : open(ports, run, { agentId, after, output, waitForMore: !finished });
}

function open(
  ports: SubscribePorts,
  run: RunRef,
  {
    agentId,
    ...options
  }: { agentId: string; after: number; output: OutputBuffer; waitForMore?: boolean },
): RunStream {
  return { agentId, events: (signal) => subscribeToRun(ports, run, { ...options, signal }) };
}
