import type { ListRunsQuery } from "@beckon/client";

/**
 * Filters of a list of runs in the URL. They have the API's names. Times can also be relative, for
 * example `24h`.
 */
export type RunFilters = Readonly<Partial<Record<FilterName, string>>>;
type FilterName = (typeof filterNames)[number];

/** The filters that a URL can have. */
export const filterNames = [
  "status",
  "agent_id",
  "source",
  "trigger_id",
  "external_id",
  "tag",
  "error",
  "text",
  "created_after",
  "created_before",
] as const satisfies readonly (keyof ListRunsQuery)[];

export const statuses = [
  "waiting",
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
] as const;
export const sources = ["invoke", "trigger", "draft"] as const;

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Returns the filters in the search parameters. Values that the API would reject are left out or
 * truncated.
 */
export function filtersOf(search: Readonly<Record<string, string | undefined>>): RunFilters {
  const given: Record<FilterName, string | undefined> = {
    status: listOf(search.status, statuses),
    agent_id: text(search.agent_id, 100),
    source: listOf(search.source, sources),
    trigger_id: text(search.trigger_id, 100),
    external_id: text(search.external_id, 255),
    tag: text(search.tag, 64),
    error: text(search.error, 200),
    text: text(search.text, 200),
    created_after: time(search.created_after),
    created_before: time(search.created_before),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function listOf(value: string | undefined, known: readonly string[]): string | undefined {
  const given = new Set(value?.split(","));
  return known.filter((each) => given.has(each)).join(",") || undefined;
}

function text(value: string | undefined, max: number): string | undefined {
  return value?.trim().slice(0, max) || undefined;
}

function time(value: string | undefined): string | undefined {
  return value !== undefined && timeOf(value, 0) !== undefined ? value : undefined;
}

/**
 * Returns the Unix time in ms that a text means: a relative time such as `24h` or `7d`, which is
 * counted back from `nowMs`, or an ISO 8601 time with an offset. Undefined for other texts.
 */
export function timeOf(value: string, nowMs: number): number | undefined {
  const [, amount, unit] = /^(\d{1,4})([mhd])$/.exec(value) ?? [];
  if (unit !== undefined) return nowMs - Number(amount) * (unitMs[unit] ?? 0);
  // The time must have an offset, because the API rejects a time without one.
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the API's query for the filters. Relative times are counted back from `nowMs`. */
export function queryOf(filters: RunFilters, nowMs: number): ListRunsQuery {
  const { created_after, created_before } = filters;
  return {
    ...filters,
    ...(created_after && { created_after: isoOf(created_after, nowMs) }),
    ...(created_before && { created_before: isoOf(created_before, nowMs) }),
  };
}

const isoOf = (value: string, nowMs: number) =>
  new Date(timeOf(value, nowMs) ?? nowMs).toISOString();
