import { type EventOnWire, eventsQuery } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { refusalIfLost } from "../../base/database/index.ts";
import { parseQuery } from "../../base/parse.ts";
import { type SubscribePorts, subscribeToRun } from "../subscribing/index.ts";
import { getRun } from "./get.ts";

/** A page of a run's journal as it is now, oldest first. `next` is the `after` of the following page; null: there is no more yet. */
export async function listRunEvents({
  ctx,
  input,
}: {
  ctx: Context & { runs: SubscribePorts };
  input: { runId: string; query: unknown };
}): Promise<{ data: EventOnWire[]; next: string | null }> {
  await getRun({ ctx, input });
  const { after, limit } = parseQuery(eventsQuery, input.query);
  const run = { runId: input.runId, workspaceId: ctx.workspaceId };
  const data: EventOnWire[] = [];
  try {
    for await (const event of subscribeToRun(ctx.runs, run, {
      after,
      follow: false,
      signal: new AbortController().signal,
    })) {
      if (data.length === limit) return { data, next: String(data.at(-1)?.seq) };
      data.push(event);
    }
  } catch (thrown) {
    throw refusalIfLost(thrown);
  }
  return { data, next: null };
}
