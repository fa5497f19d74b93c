import { type EventOnWire, eventsQuery } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { unavailableIfLost } from "../../base/database/index.ts";
import { parseQuery } from "../../base/parse.ts";
import { readEventSummaries } from "../journal/index.ts";
import { readProgress, type SubscribePorts, subscribeToRun } from "../subscribing/index.ts";

/**
 * Returns a page of the events that are committed to a run's journal now, oldest first.
 * @returns `data`: the events. `next`: the value of `after` for the following page; null if there
 *   are no more events yet.
 * @throws ApiError `forbidden`, `not_found`, `bad_request`; `unavailable` if the database cannot be
 *   reached.
 */
export async function listRunEvents({
  ctx,
  input,
}: {
  ctx: Context & { runs: SubscribePorts };
  input: { runId: string; query: unknown };
}): Promise<{ data: EventOnWire[]; next: string | null }> {
  await readProgress(ctx, input.runId);
  const { after, limit, view } = parseQuery(eventsQuery, input.query);
  const run = { runId: input.runId, workspaceId: ctx.workspaceId };
  const data: EventOnWire[] = [];
  try {
    if (view === "summary") {
      const summaries = await readEventSummaries(ctx.database, run, after, limit + 1);
      const page = summaries.slice(0, limit);
      return { data: page, next: summaries.length > limit ? String(page.at(-1)?.seq) : null };
    }
    for await (const event of subscribeToRun(ctx.runs, run, {
      after,
      follow: false,
      signal: new AbortController().signal,
    })) {
      if (data.length === limit) return { data, next: String(data.at(-1)?.seq) };
      data.push(event);
    }
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
  return { data, next: null };
}
