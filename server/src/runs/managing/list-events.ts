import { type EventOnWire, eventsQuery } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { unavailableIfLost } from "../../base/database/index.ts";
import { parseQuery } from "../../base/parse.ts";
import { readEventSummaries, readSomeEvents } from "../journal/index.ts";
import { readProgress } from "../subscribing/index.ts";

/** Number of characters of event data after which a page has no more events. */
const maxPageCharacters = 1024 * 1024;

/**
 * Returns a page of the events that are committed to a run's journal now, oldest first. A page of
 * whole events has fewer than `limit` if they are large: see `maxPageCharacters`.
 * @returns `data`: the events. `next`: the value of `after` for the following page; null if there
 *   are no more events yet.
 * @throws ApiError `forbidden`, `not_found`, `bad_request`; `unavailable` if the database cannot be
 *   reached.
 */
export async function listRunEvents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string; query: unknown };
}): Promise<{ data: EventOnWire[]; next: string | null }> {
  const { lastSeq } = await readProgress(ctx, input.runId);
  const { after, limit, view } = parseQuery(eventsQuery, input.query);
  const run = { runId: input.runId, workspaceId: ctx.workspaceId };
  const data = await (view === "summary"
    ? readEventSummaries(ctx.database, run, after, limit)
    : readSomeEvents(ctx.database, run, after, {
        maxEvents: limit,
        maxCharacters: maxPageCharacters,
      })
  ).catch((thrown) => {
    throw unavailableIfLost(thrown);
  });
  const last = data.at(-1)?.seq ?? lastSeq;
  return { data, next: last < lastSeq ? String(last) : null };
}
