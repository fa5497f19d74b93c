import { type UsageGroup, type UsageReport, type UsageRow, usageQuery } from "@beckon/contract";
import { agentLimit, type Context, canAccessAgent, permit } from "../base/context.ts";
import {
  inWorkspace,
  isCancelled,
  limitText,
  limitTime,
  type WorkspaceTransaction,
} from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { parseQuery } from "../base/parse.ts";
import { csvOf } from "./csv.ts";
import { namesOf } from "./names.ts";
import { checkDeleted, needsEntries, rangeOf, type UsageRange } from "./range.ts";
import { readCursor, toCursor } from "./report-cursor.ts";
import { hasAgent, type ReportRow, readLastDay, readReport, readToday } from "./report-store.ts";

/** Maximum number of rows of a page, and the default of `limit`. */
const maxRows = 1_000;
/** Maximum number of rows of a CSV file. They are in memory until the client has read the file. */
const maxCsvRows = 50_000;
/** Estimated memory of a row of a CSV file in bytes: an upper bound, for very long names. */
const bytesPerRow = 1_000;
/**
 * Maximum duration of each statement that reads the report. With what has passed before, such as
 * the wait for the workspace's turn, they end before the deadline of all reads of a request, 4 s:
 * otherwise the client would not get the error's advice.
 */
const timeoutMs = 3_000;

/** Parts of error messages that say how to change the request. */
const shorten = "Shorten the time range with from and to";
const remedy = `${shorten}, or name one agent with agent_id.`;

/** Usage in the requested format. */
type RequestedUsage =
  | { readonly format: "json"; readonly report: UsageReport }
  | {
      readonly format: "csv";
      /** File name. */
      readonly name: string;
      readonly content: AsyncIterable<string>;
      /** Estimated memory that the rows use, in bytes. */
      readonly heldBytes: number;
    };

/**
 * Returns usage and its cost, by the requested groups: one page with the totals of all pages, or
 * all rows as CSV. The rows and totals of one response are from one snapshot; the next page is read
 * from a later one. For an actor that is limited to some agents, only the usage of these agents
 * counts.
 * @throws ApiError `forbidden` without the scope `usage:read`; `not_found` for an agent that the
 *   workspace never had or the actor cannot access; `bad_request` including when the range is empty
 *   or too long, if entries that the report needs were deleted, if a CSV file would have more than
 *   50,000 rows, or if the report takes longer than 3 seconds, or than its request has left.
 */
export async function getUsage({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<RequestedUsage> {
  permit(ctx, "usage:read");
  const query = parseQuery(usageQuery, input.query);
  const { limit: wanted, after, format, ...asked } = query;
  if (format === "csv" && (wanted !== undefined || after !== undefined)) {
    throw badRequest(
      "query parameters limit and after cannot be combined with format=csv, which returns all rows. Leave them out.",
    );
  }
  const { workspaceId } = ctx;
  const scoped = { ...asked, workspace: workspaceId, agents: agentLimit(ctx) };
  const position = after === undefined ? undefined : readCursor(after, scoped);
  const groups = asked.group_by ?? ["day"];
  const limit = format === "csv" ? maxCsvRows : (wanted ?? maxRows);
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const { agent_id: agentId, model, caller, tag } = asked;
    if (
      agentId !== undefined &&
      !(canAccessAgent(ctx, agentId) && (await hasAgent(tx, workspaceId, agentId)))
    )
      throw noAgent();
    const { timeZone, today, now, deletedUntil } = await readToday(tx, workspaceId);
    const { from, to } = position ?? asked;
    let lastDay = today;
    if (to === undefined) {
      const explain = await limitReads(tx, remedy);
      lastDay = await readLastDay(tx, workspaceId, today).catch(explain);
    }
    const range = rangeOf({ from, to, groups, tag }, lastDay, now);
    checkDeleted({ groups, tag }, range, deletedUntil);
    // The index of single entries has no agents: a report of one agent reads as many entries.
    const advice = needsEntries({ groups, tag }, range) ? `${shorten}.` : remedy;
    const explain = await limitReads(tx, advice);
    const { totals, rows, since } = await readReport(tx, workspaceId, {
      groups,
      range,
      agentIds: agentId === undefined ? agentLimit(ctx) : [agentId],
      model,
      caller,
      tag,
      timeZone,
      after: position?.keys,
      limit: limit + 1,
    }).catch(explain);
    const names = await namesOf(tx, ctx, {
      principals: keysOf(rows, groups, "caller"),
      agentIds: keysOf(rows, groups, "agent"),
    }).catch(explain);
    const named = rows.slice(0, limit).map((row) => toRow(row, groups, names));
    const bounds = boundsOf(range);
    if (format === "csv") {
      if (rows.length > limit) {
        throw badRequest(
          `The file would have more than ${maxCsvRows.toLocaleString("en")} rows. ${remedy}`,
        );
      }
      return {
        format,
        name: `beckon-usage-${bounds.from.slice(0, 10)}-${bounds.to.slice(0, 10)}.csv`,
        content: csvOf([...groups.flatMap((group) => keyColumns[group]), ...amountColumns], named),
        heldBytes: named.length * bytesPerRow,
      };
    }
    const last = rows[limit - 1];
    return {
      format,
      report: {
        ...bounds,
        time_zone: timeZone,
        since: since?.toISOString() ?? null,
        totals,
        rows: named,
        next:
          rows.length > limit && last !== undefined
            ? toCursor({ ...bounds, keys: last.keys }, scoped)
            : null,
      },
    };
  });
}

/**
 * Limits the time of each later statement of the transaction.
 * @returns a function that throws ApiError `bad_request` with the advice if PostgreSQL has
 *   cancelled the statement, else `thrown`
 */
async function limitReads(
  tx: WorkspaceTransaction,
  advice: string,
): Promise<(thrown: unknown) => never> {
  const limitMs = await limitTime(tx, timeoutMs);
  return (thrown) => {
    throw isCancelled(thrown)
      ? badRequest(`The report took longer than ${limitText(limitMs, timeoutMs)} ${advice}`)
      : thrown;
  };
}

/** The fields of a row that show what it is grouped by. */
const keyColumns: { readonly [Group in UsageGroup]: readonly (keyof UsageRow)[] } = {
  day: ["day"],
  hour: ["hour"],
  agent: ["agent_id", "agent_name"],
  model: ["model"],
  caller: ["caller", "caller_name"],
  metric: ["metric"],
  tag: ["tag"],
};

const amountColumns: readonly (keyof UsageRow)[] = [
  "entries",
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "voice_ms",
  "browser_ms",
  "cost_micros",
  "unknown_cost_entries",
  "estimated_entries",
];

function toRow(
  { keys, amounts }: ReportRow,
  groups: readonly UsageGroup[],
  names: ReadonlyMap<string, string>,
): UsageRow {
  const fields = groups.map((group, index) => keyFields(group, keys[index] ?? "", names));
  return Object.assign({}, ...fields, amounts) as UsageRow;
}

function keyFields(
  group: UsageGroup,
  key: string,
  names: ReadonlyMap<string, string>,
): Partial<UsageRow> {
  switch (group) {
    case "day":
      return { day: key };
    case "hour":
      return { hour: key };
    case "agent":
      return { agent_id: key, agent_name: names.get(key) ?? null };
    case "model":
      return { model: key };
    case "caller":
      return { caller: key, caller_name: names.get(key) ?? null };
    case "metric":
      return { metric: key };
    case "tag":
      return { tag: key === "" ? null : key };
  }
}

/** Returns the values of `group` in the rows; none if the rows are not grouped by it. */
function keysOf(
  rows: readonly ReportRow[],
  groups: readonly UsageGroup[],
  group: UsageGroup,
): string[] {
  const index = groups.indexOf(group);
  return index === -1 ? [] : [...new Set(rows.map(({ keys }) => keys[index] ?? ""))];
}

function boundsOf({ kind, from, to }: UsageRange): { from: string; to: string } {
  return kind === "days" ? { from, to } : { from: from.toISOString(), to: to.toISOString() };
}

function noAgent(): ApiError {
  return new ApiError("not_found", "There is no agent with this id that this credential can see.");
}

function badRequest(message: string): ApiError {
  return new ApiError("bad_request", message);
}
