import { type StreamNotice, type WorkspaceEvent, workspaceStreamQuery } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { refusalIfLost } from "../base/database/index.ts";
import { parseQuery } from "../base/parse.ts";
import { isOf, readCursor, toCursor } from "./cursor.ts";
import type { EventPoller } from "./event-poller.ts";
import { type Filter, matches, permitEvents, permitFilter } from "./filter.ts";
import { beginning, type Position } from "./position.ts";
import { readEnd, readGeneration } from "./store.ts";
import { subscribeToWorkspace } from "./subscribe.ts";
import { toWire } from "./wire.ts";

/** A workspace's stream, not begun yet. */
export interface WorkspaceStream {
  /** All it shows is of these agents; null: it shows the whole workspace. */
  readonly agentIds: readonly string[] | null;
  readonly events: (signal: AbortSignal) => AsyncIterable<WorkspaceEvent | StreamNotice>;
}

/** Context of verbs that follow events, or write some and wake those who follow. */
export type EventContext = Context & { readonly tail: EventPoller };

/**
 * The workspace's events after a cursor, and those to come; without a cursor, those to come.
 * @throws ApiError `bad_request` for a cursor that is none. One of another generation is not refused: the stream says so and begins now.
 */
export async function streamEvents({
  ctx,
  input: { query, lastEventId },
}: {
  ctx: EventContext;
  input: { query: unknown; lastEventId: string | undefined };
}): Promise<WorkspaceStream> {
  permitEvents(ctx);
  const { after, ...asked } = parseQuery(workspaceStreamQuery, query);
  const filter = permitFilter(ctx, asked);
  const given = lastEventId || after;
  const source = lastEventId ? "Last-Event-ID" : "query parameter after";
  const cursor = given === undefined ? undefined : readCursor(given, source);
  try {
    const { generation, possible } = await readGeneration(ctx.database.engine, cursor ?? beginning);
    const resumed = cursor !== undefined && possible && isOf(cursor, generation);
    const start = resumed ? cursor : await readEnd(ctx.database.engine);
    const notice = resumed
      ? undefined
      : noticeOf(
          cursor === undefined ? "stream.opened" : "stream.reset",
          toCursor(generation, start),
        );
    return {
      agentIds: filter.agentIds ?? null,
      events: (signal) => events(ctx, filter, { start, generation, notice, signal }),
    };
  } catch (thrown) {
    throw refusalIfLost(thrown);
  }
}

const resetMessage =
  "The cursor is from before a restore of this installation: what you have read may not be so any more. Read again what you keep; the stream goes on from now.";

function noticeOf(type: StreamNotice["type"], cursor: string): StreamNotice {
  return type === "stream.opened"
    ? { type, cursor, data: {} }
    : { type, cursor, data: { message: resetMessage } };
}

async function* events(
  { database, workspaceId, tail }: EventContext,
  filter: Filter,
  {
    start,
    generation,
    notice,
    signal,
  }: { start: Position; generation: string; notice: StreamNotice | undefined; signal: AbortSignal },
): AsyncGenerator<WorkspaceEvent | StreamNotice> {
  if (notice !== undefined) yield notice;
  for await (const event of subscribeToWorkspace({ database, tail }, workspaceId, {
    after: start,
    signal,
  })) {
    if (matches(filter, event)) yield toWire(event, generation);
  }
}
