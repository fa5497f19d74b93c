import { type WorkspaceEvent, workspaceEventsQuery } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { refusalIfLost } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { parseQuery } from "../base/parse.ts";
import { isOf, readCursor, toCursor } from "./cursor.ts";
import { matches, permitEvents, permitFilter, sourcesOf } from "./filter.ts";
import { beginning } from "./position.ts";
import { readGeneration, readStretch } from "./store.ts";
import { toWire } from "./wire.ts";

/**
 * A page of the workspace's events, oldest first. `next` is the `after` of the following page; null: there is no more yet. A page looks
 * at `limit` events and holds those that match.
 */
export async function listEvents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<{ data: WorkspaceEvent[]; next: string | null }> {
  permitEvents(ctx);
  const { limit, after, ...asked } = parseQuery(workspaceEventsQuery, input.query);
  const filter = permitFilter(ctx, asked);
  const cursor = after === undefined ? undefined : readCursor(after);
  const { engine } = ctx.database;
  try {
    const { generation, possible } = await readGeneration(engine, cursor ?? beginning);
    if (cursor !== undefined && !(possible && isOf(cursor, generation))) {
      throw new ApiError(
        "bad_request",
        "query parameter after is a cursor from before a restore of this installation. Start again without it.",
      );
    }
    const stretch = await readStretch(engine, [ctx.workspaceId], {
      after: cursor ?? beginning,
      limit,
      ...sourcesOf(filter),
    });
    const data = stretch.events
      .filter((event) => matches(filter, event))
      .map((event) => toWire(event, generation));
    return { data, next: stretch.cut ? toCursor(generation, stretch.end) : null };
  } catch (thrown) {
    throw refusalIfLost(thrown);
  }
}
