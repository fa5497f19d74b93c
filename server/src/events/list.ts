import { type WorkspaceEvent, workspaceEventsQuery } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { unavailableIfLost } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { parseQuery } from "../base/parse.ts";
import { cursorFor, isFromGeneration, originsOfInvalidCursors, readCursor } from "./cursor.ts";
import { matches, permitEvents, permitFilter, sourcesOf } from "./filter.ts";
import { beginning } from "./position.ts";
import { readEventBatch, readGeneration } from "./store.ts";
import { toWire } from "./wire.ts";

/**
 * Returns a page of the workspace's events, oldest first. A page reads up to `limit` events, fewer
 * if their data is large, and returns only those that match the query. So it can have fewer events
 * than `limit`, or none, although there are more.
 * @returns `data`: the events. `next`: the value of `after` for the following page; null if there
 *   are no more events yet.
 * @throws ApiError `forbidden`; `not_found`; `bad_request` if the cursor is malformed, or is
 *   from an earlier generation; `unavailable` if the database cannot be reached.
 */
export async function listEvents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<{ data: WorkspaceEvent[]; next: string | null }> {
  permitEvents(ctx);
  const { limit, after, view, merge, ...requested } = parseQuery(workspaceEventsQuery, input.query);
  const filter = permitFilter(ctx, requested);
  const cursor = after === undefined ? undefined : readCursor(ctx, after);
  const { engine } = ctx.database;
  try {
    const { generation, possible } = await readGeneration(
      engine,
      ctx.workspaceId,
      cursor ?? beginning,
    );
    if (cursor !== undefined && !(possible && isFromGeneration(cursor, generation))) {
      throw new ApiError(
        "bad_request",
        `query parameter after is a cursor ${originsOfInvalidCursors}. Read again what you store, and start without it.`,
      );
    }
    const batch = await readEventBatch(engine, [ctx.workspaceId], {
      after: cursor ?? beginning,
      limit,
      summaries: view === "summary",
      merge: merge === "true",
      ...sourcesOf(filter),
    });
    const data = batch.events
      .filter((event) => matches(filter, event))
      .map((event) => toWire(event, generation));
    return { data, next: batch.hasMore ? cursorFor(ctx, generation, batch.end) : null };
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
}
