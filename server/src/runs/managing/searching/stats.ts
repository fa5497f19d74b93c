import { type RunStats, runStatsQuery, type StatsBucket } from "@beckon/contract";
import type { Context } from "../../../base/context.ts";
import { inWorkspace, isCancelled, limitText, limitTime } from "../../../base/database/index.ts";
import { ApiError } from "../../../base/errors.ts";
import { parseQuery } from "../../../base/parse.ts";
import { permitRuns } from "../../access.ts";
import { readStats } from "./stats-store.ts";

/** Maximum number of runs that are read for one response. */
const maxRuns = 100_000;
/** Maximum number of groups in one response. */
const maxGroups = 10_000;
/**
 * Maximum duration of the statement that computes the statistics. It ends before the deadline of
 * all database reads of a request, 4 s, whose error does not contain `remedy`.
 */
const timeoutMs = 3_000;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * Default and maximum time range for each size of a bucket. With the maximum, a response has about
 * 1,440 buckets at most.
 */
const ranges = {
  minute: { defaultMs: hourMs, maxMs: dayMs, maxText: "1 day", larger: "hour" },
  hour: { defaultMs: dayMs, maxMs: 31 * dayMs, maxText: "31 days", larger: "day" },
  day: { defaultMs: 30 * dayMs, maxMs: 366 * dayMs, maxText: "366 days", larger: undefined },
  none: { defaultMs: dayMs, maxMs: 366 * dayMs, maxText: "366 days", larger: undefined },
} as const;

/** Advice in error messages: how to change the request so that fewer runs are read. */
const remedy =
  "Narrow the time range with created_after and created_before, or name one agent with agent_id.";

/**
 * Returns statistics of the runs that match the query: for all runs together, and separately for
 * each time bucket, each agent, or both. For an actor that is limited to some agents, only the runs
 * of these agents count. Draft runs never count.
 * @throws ApiError `forbidden`; `bad_request`, also if the time range is empty or too long, if it
 *   contains more than 100,000 runs, if the response would have more than 10,000 groups, or if
 *   computing it takes longer than 3 seconds, or than its request has left.
 */
export async function getRunStats({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<RunStats> {
  const agentIds = permitRuns(ctx, "runs:read");
  const { bucket, group_by, ...filter } = parseQuery(runStatsQuery, input.query);
  const { from, to } = rangeOf(bucket, filter);
  const { workspaceId } = ctx;
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const limitMs = await limitTime(tx, timeoutMs);
    const stats = await readStats(tx, workspaceId, {
      agentIds,
      filter: { ...filter, created_after: from.toISOString() },
      bucket,
      byAgent: group_by === "agent",
      maxRuns,
      maxGroups,
    }).catch((thrown: unknown) => {
      throw isCancelled(thrown)
        ? badRequest(`The statistics took longer than ${limitText(limitMs, timeoutMs)} ${remedy}`)
        : thrown;
    });
    if (!("tooMany" in stats))
      return { created_after: from.toISOString(), created_before: to.toISOString(), ...stats };
    throw badRequest(
      stats.tooMany === "runs"
        ? `More than 100,000 runs are in this time range. ${remedy}`
        : "The response would have more than 10,000 groups. Choose a larger bucket or a shorter time range, or leave out group_by.",
    );
  });
}

/** Returns the time range of the query: by default, a range that ends now. */
function rangeOf(
  bucket: StatsBucket | undefined,
  filter: { created_after?: string | undefined; created_before?: string | undefined },
): { from: Date; to: Date } {
  const { defaultMs, maxMs, maxText, larger } = ranges[bucket ?? "none"];
  const { created_after: after, created_before: before } = filter;
  const to = before === undefined ? Date.now() : Date.parse(before);
  const from = after === undefined ? to - defaultMs : Date.parse(after);
  if (from >= to) {
    throw badRequest(
      `query parameter created_after must be before created_before${before === undefined ? ", which is now by default" : ""}.`,
    );
  }
  if (to - from > maxMs) {
    throw badRequest(
      `The time range from created_after to created_before can be at most ${maxText}${bucket === undefined ? "" : ` with bucket=${bucket}`}. Shorten it${larger === undefined ? "" : `, or use bucket=${larger}`}.`,
    );
  }
  return { from: new Date(from), to: new Date(to) };
}

function badRequest(message: string): ApiError {
  return new ApiError("bad_request", message);
}
