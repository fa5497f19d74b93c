import {
  type StreamNotice,
  type View,
  type WorkspaceEvent,
  workspaceStreamQuery,
} from "@beckon/contract";
import { elapsed } from "../base/clock.ts";
import type { Context } from "../base/context.ts";
import { unavailableIfLost } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import {
  cursorFor,
  isFromGeneration,
  originsOfInvalidCursors,
  readCursor,
  toCursor,
} from "./cursor.ts";
import type { EventPoller } from "./event-poller.ts";
import { type Filter, matches, permitEvents, permitFilter, sourcesOf } from "./filter.ts";
import { beginning, type Position } from "./position.ts";
import { readEnd, readGeneration, type StoredEvent } from "./store.ts";
import { subscribeToWorkspace } from "./subscribe.ts";
import { summarize } from "./summary.ts";
import { createTurnCache } from "./turn-cache.ts";
import { toWire } from "./wire.ts";

/** A stream of a workspace's events that has not started yet. */
export interface WorkspaceStream {
  /**
   * The agents whose events the stream shows; null if it shows the events of all agents of the
   * workspace.
   */
  readonly agentIds: readonly string[] | null;
  /**
   * Starts the stream, which yields events in batches. It ends when `signal` aborts or the process
   * stops.
   */
  readonly events: (
    signal: AbortSignal,
  ) => AsyncIterable<StreamNotice | readonly WorkspaceEvent[] | CursorAdvance>;
}

/**
 * A cursor after events that the stream does not show. Without it, a reader whose filter matches
 * few events would resume after the last match, and all events since then would be read again.
 */
export interface CursorAdvance {
  readonly advancedTo: string;
}

/**
 * Minimum time between the last events or cursor of a stream and the next cursor that is sent
 * without events. Without this limit, the stream would send a cursor for every batch without a
 * selected event.
 */
const minAdvanceMs = 15_000;

/**
 * Context of operations that subscribe to events, and of operations that write events and then wake
 * subscribers.
 */
export type EventContext = Context & { readonly eventPoller: EventPoller };

/**
 * Opens a stream of the workspace's events. With a cursor the stream contains the events after the
 * cursor; without one, only events that are written from now on. A cursor from an earlier
 * generation (see `reconcileHistory`), or that cannot be decrypted because the master key was
 * changed, is ignored, and the first message of the stream is `stream.reset`.
 * @throws ApiError `forbidden`; `not_found`; `bad_request` if the cursor is malformed;
 *   `unavailable` if the database cannot be reached.
 */
export async function streamEvents({
  ctx,
  input: { query, lastEventId },
}: {
  ctx: EventContext;
  input: { query: unknown; lastEventId: string | undefined };
}): Promise<WorkspaceStream> {
  permitEvents(ctx);
  const { after, view, merge, ...requested } = parseQuery(workspaceStreamQuery, query);
  const filter = permitFilter(ctx, requested);
  const cursorText = lastEventId || after;
  const source = lastEventId ? "Last-Event-ID" : "query parameter after";
  const cursor = cursorText === undefined ? undefined : readCursor(ctx, cursorText, source);
  try {
    const { generation, possible } = await readGeneration(
      ctx.database.engine,
      ctx.workspaceId,
      cursor ?? beginning,
    );
    const isResumed = cursor !== undefined && possible && isFromGeneration(cursor, generation);
    const start = isResumed ? cursor : await readEnd(ctx.database.engine);
    const notice = isResumed
      ? undefined
      : noticeOf(
          cursor === undefined ? "stream.opened" : "stream.reset",
          toCursor(generation, start),
        );
    return {
      agentIds: filter.agentIds ?? null,
      events: (signal) =>
        events(ctx, filter, {
          start,
          generation,
          notice,
          view,
          merge: merge === "true",
          signal,
        }),
    };
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
}

const resetMessage = `The cursor is ${originsOfInvalidCursors}, so events you have read may no longer exist. Read again what you store; the stream continues from now.`;

function noticeOf(type: StreamNotice["type"], cursor: string): StreamNotice {
  return type === "stream.opened"
    ? { type, cursor, data: {} }
    : { type, cursor, data: { message: resetMessage } };
}

/** What a stream shows of the events that it reads. */
interface Selection {
  readonly filter: Filter;
  readonly view: View;
  readonly generation: string;
}

/**
 * The selected events of each batch, by selection. Several streams of a workspace often have the
 * same selection, as those of dashboards do. Such streams share one array for each batch, so it is
 * also serialized only once (`sharedChunks` in `http/streams/write-stream.ts`).
 */
const selectionsOf = createTurnCache<
  readonly StoredEvent[],
  Map<string, readonly WorkspaceEvent[]>
>();

function select(
  batch: readonly StoredEvent[],
  { filter, view, generation }: Selection,
  key: string,
): readonly WorkspaceEvent[] {
  const selections = selectionsOf(batch, () => new Map());
  const known = selections.get(key);
  if (known !== undefined) return known;
  const shown: WorkspaceEvent[] = [];
  for (const event of batch) {
    if (!matches(filter, event)) continue;
    const wire = toWire(event, generation);
    shown.push(view === "summary" ? summarize(wire) : wire);
  }
  selections.set(key, shown);
  return shown;
}

async function* events(
  ctx: EventContext,
  filter: Filter,
  {
    start,
    generation,
    notice,
    view,
    merge,
    signal,
  }: {
    start: Position;
    generation: string;
    notice: StreamNotice | undefined;
    view: View;
    merge: boolean;
    signal: AbortSignal;
  },
): AsyncGenerator<StreamNotice | readonly WorkspaceEvent[] | CursorAdvance> {
  if (notice !== undefined) yield notice;
  const selection: Selection = { filter, view, generation };
  const key = JSON.stringify(selection);
  const options = { after: start, sources: sourcesOf(filter), merge, signal };
  let advancedAt = Number.NEGATIVE_INFINITY;
  for await (const batch of subscribeToWorkspace(ctx, ctx.workspaceId, options)) {
    const shown = select(batch, selection, key);
    const last = batch.at(-1);
    if (shown.length > 0) yield shown;
    else if (last !== undefined && elapsed() - advancedAt >= minAdvanceMs)
      yield { advancedTo: cursorFor(ctx, generation, last) };
    else continue;
    advancedAt = elapsed();
  }
}
