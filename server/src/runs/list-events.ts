import { type EventOnWire, eventsQuery } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { databaseAway, failureKind } from "../base/database/index.ts";
import { parse } from "../base/parse.ts";
import { getRun } from "./get.ts";
import type { Runtime } from "./runtime.ts";
import { watchRun } from "./watch.ts";

/** A page of a run's journal as it is now, oldest first. `next` is the `after` of the following page; null: there is no more yet. */
export async function listRunEvents({
  ctx,
  input,
}: {
  ctx: Context & { runtime: Runtime };
  input: { runId: string; query: unknown };
}): Promise<{ data: EventOnWire[]; next: string | null }> {
  await getRun({ ctx, input });
  const { after, limit } = parse(eventsQuery, input.query);
  const run = { runId: input.runId, workspaceId: ctx.workspaceId };
  const data: EventOnWire[] = [];
  try {
    for await (const event of watchRun(ctx.runtime, run, { after, follow: false, signal: new AbortController().signal })) {
      if (data.length === limit) return { data, next: String(data.at(-1)?.seq) };
      data.push(event);
    }
  } catch (thrown) {
    throw failureKind(thrown) === "lost" ? databaseAway(thrown) : thrown;
  }
  return { data, next: null };
}
