import type { TokenUsage } from "@beckon/contract";
import { type Database, type Statement, statement } from "../../base/database/index.ts";
import type { MeteredCall } from "../../engine/index.ts";
import {
  insertEvents,
  insertWorkspaceEvents,
  type KnownSubscriptions,
  someSubscriptions,
} from "../../events/index.ts";
import { chargeBudgets, workspacesToWake } from "../../reservations/index.ts";
import { insertEntries } from "../../usage/index.ts";
import { findReason } from "./append-reason-store.ts";
import { type AppendResult, type AppendRow, endOf, settles, statusAfter } from "./append-row.ts";
import { addEvents, insertResults } from "./end-runs.ts";
import type { AppendEntry } from "./journal-entry.ts";
import type { RunEnd } from "./run-end.ts";

/**
 * The result of `appendUncharged` for a row whose workspace has limits: nothing was written, and
 * the row must be written by `appendToRuns`.
 */
export interface Limited {
  readonly kind: "limited";
}

/**
 * The rows of one statement, divided into the tables to which they are written. `write` is the
 * position of an item's row in `rows`, counted from 1.
 */
interface AppendInput {
  readonly rows: readonly AppendRow[];
  readonly entries: readonly {
    readonly entry: AppendEntry;
    readonly write: number;
    readonly seq: number;
  }[];
  readonly calls: readonly CallInput[];
  readonly ends: readonly (RunEnd & { readonly write: number })[];
  readonly files: readonly {
    readonly id: string;
    readonly content: string;
    readonly write: number;
  }[];
}

/**
 * Returns SQL that charges the written usage entries to the budgets of their runs. Artifacts and
 * outputs have up to 32 MiB each. They are inserted before the budgets are locked, because the
 * other runs of the workspace wait for these locks.
 */
const charge = ({ deliveries, artifacts }: Variant) =>
  chargeBudgets(
    "settling",
    "written_entries",
    (source) => insertWorkspaceEvents(source, { withDeliveries: deliveries }),
    // Without artifacts all outputs are small, because the event of a large one has an artifact.
    artifacts ? ["written_files", "written_results"] : [],
  );

interface CallInput {
  readonly call: MeteredCall;
  readonly write: number;
  /** Sequence number of the event that reports the call. */
  readonly seq: number;
  /** Number of the call among the calls of its event, counted from 1. */
  readonly number: number;
}

/** The variant of the append statement. */
interface Variant {
  /**
   * `living`: writes only rows whose owner has not been declared dead. `dead`: writes only rows
   * whose owner has been declared dead.
   */
  readonly owner: "living" | "dead";
  /**
   * Whether metered calls are added to budgets. If false, rows of workspaces with budgets are not
   * written and are returned as `limited`. So are rows without metered calls, because the process
   * must learn of a new limit before the run's next model call.
   */
  readonly charged: boolean;
  /**
   * Whether deliveries to subscriptions are written. If false and any workspace has a subscription,
   * nothing is written and all rows are returned as `subscribed`. The SQL for deliveries and that
   * for artifacts each take about as much time as one more row, and most batches need neither.
   */
  readonly deliveries: boolean;
  /** Whether artifacts are written. If false, no entry can have one. */
  readonly artifacts: boolean;
}

/**
 * Creates the statement that appends to the journals of many runs in one commit. Its update of
 * `runs` checks the claim of each row: entries, usage, results and artifacts are written only for
 * the rows that the update returns. A join with `runs` would not be enough, since it reads the
 * statement's snapshot. An update waits for a locked row and then checks the current version of the
 * row.
 */
const append = (name: string, variant: Variant) =>
  statement<AppendInput>(name, (p) => {
    const { owner, charged, deliveries, artifacts } = variant;
    const writes = p.rows("w", (input) => input.rows, {
      run_id: ["text", (row) => row.runId],
      workspace_id: ["text", (row) => row.workspaceId],
      owner: ["text", (row) => row.owner],
      fence: ["int", (row) => row.fence],
      last_seq: ["int", (row) => row.lastSeq],
      entries: ["int", (row) => row.entries.length],
      unless_cancelled: ["boolean", (row) => row.unlessCancelled ?? false],
      status: ["text", statusAfter],
      settles: ["boolean", settles],
    });
    const entries = p.rows("e", (input) => input.entries, {
      write: ["int", (row) => row.write],
      seq: ["int", (row) => row.seq],
      id: ["text", (row) => row.entry.id],
      type: ["text", (row) => row.entry.type],
      data: ["jsonb", (row) => row.entry.data],
    });
    const calls = p.rowsWithNumbers(
      "c",
      (input) => input.calls,
      {
        outcome: ["text", ({ call }) => call.outcome],
        kind: ["text", ({ call }) => call.kind],
        provider: ["text", ({ call }) => call.modelName.slice(0, slashOf(call))],
        model: ["text", ({ call }) => call.modelName.slice(slashOf(call) + 1)],
        price_origin: ["text", ({ call }) => call.price.origin],
        estimated: ["boolean", ({ call }) => call.usage.estimated ?? false],
      },
      {
        write: (row) => row.write,
        seq: (row) => row.seq,
        number: (row) => row.number,
        step: ({ call }) => call.step,
        ...usageNumbers(({ call }: CallInput) => call.usage),
        voice_ms: ({ call }) => call.voiceMs ?? 0,
        browser_ms: ({ call }) => call.browserMs ?? 0,
        cost_micros: ({ call }) => call.price.micros,
        standard_cost_micros: ({ call }) => call.price.standardMicros,
      },
    );
    const ends = p.rowsWithNumbers(
      "e",
      (input) => input.ends,
      {
        output: ["text", (row) => row.output],
        error_code: ["text", (row) => row.error?.code ?? null],
        error_message: ["text", (row) => row.error?.message ?? null],
        limit_reached: [
          "text",
          ({ limit }) => (limit === undefined ? null : JSON.stringify(limit)),
        ],
        usage_estimated: ["boolean", (row) => row.usage.estimated ?? false],
      },
      {
        write: (row) => row.write,
        ...usageNumbers((row: RunEnd) => row.usage),
        cost_micros: (row) => row.costMicros,
      },
    );
    const files = artifacts
      ? p.rows("f", (input) => input.files, {
          write: ["int", (row) => row.write],
          id: ["text", (row) => row.id],
          content: ["text", (row) => row.content],
        })
      : undefined;
    const deferrals = [
      ...(deliveries ? [] : [`when ${someSubscriptions} then 'subscribed'`]),
      ...(charged ? [] : ["when t.is_limited then 'limited'"]),
    ];
    const canDefer = deferrals.length > 0;
    // The SQL for deliveries reads the new events twice more. Without `materialized`, PostgreSQL
    // would repeat the join of entries and runs for each read, and scan all entries for each run.
    const newEvents = deliveries ? "materialized" : "not materialized";
    return `
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day${
    charged ? "" : ", exists (select from budgets b where b.workspace_id = w.id) as is_limited"
  }
  from workspaces w where w.id = any (${writes.column("workspace_id")})
), writes as materialized (
  select w.*, t.day${canDefer ? `, case ${deferrals.join(" ")} end as deferral` : ""}
  from ${writes.table} left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,${
      charged
        ? `
    started_at = case when w.status is distinct from 'waiting' then r.started_at end,
    waited_ms = case when w.status = 'waiting' then 0 else r.waited_ms end,`
        : ""
    }
    ${addEvents("w.entries")}
  from writes w cross join lateral (
    -- Because of the limit, this is an index scan for each run, never a join over the whole table.
    select i.source, i.principal, i.trigger_id, i.tags from run_inputs i
    where i.run_id = w.run_id and i.workspace_id = w.workspace_id limit 1
  ) i
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each row.
  where r.id = any (array[w.run_id]) and r.workspace_id = any (array[w.workspace_id])
    -- "is not distinct from" cannot use an index. With "=" the planner may choose the index of
    -- running runs, and scan all runs of the process for each row.
    and r.status is not distinct from 'running' and r.owner is not distinct from w.owner
    and r.fence = w.fence and r.last_seq = w.last_seq
    -- "append" requires an owner that was not declared dead, and "append-for-dead" an owner that
    -- was declared dead.
    and w.owner ${
      owner === "living"
        ? "= any (array(select p.id from processes p where p.died_at is null))"
        : "in (select p.id from processes p where p.died_at is not null)"
    }
    and not (w.unless_cancelled and r.cancel_requested_at is not null)
    ${canDefer ? "and w.deferral is null" : ""}
  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as ${newEvents} (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from ${entries.table} join moved m on m.position = e.write
), ${insertEvents("new_events", { facts: { run: "columns" }, withDeliveries: deliveries })}, settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), ${insertEntries("settling", calls.table, { returnsAmounts: charged })}, results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from ${ends.table} join moved m on m.position = e.write
), ${insertResults("results", { returnsRuns: charged && artifacts })}${
      files === undefined
        ? ""
        : `, written_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from ${files.table} join moved m on m.position = f.write${charged ? " returning id" : ""}
)`
    }${charged ? `, ${charge(variant)}` : ""}
select json_agg(position) as written, now() as time, ${
      canDefer
        ? "(select json_agg(json_build_array(position, deferral)) from writes where deferral is not null)"
        : "null::json"
    } as deferred, ${charged ? workspacesToWake : "null::json"} as woken from moved`;
  });

/** The variants for living owners, by what they write apart from entries and outcomes. */
const variants = (charged: boolean) => {
  const name = charged ? "append:charged" : "append";
  const common = { owner: "living", charged } as const;
  return {
    neither: append(name, { ...common, deliveries: false, artifacts: false }),
    deliveries: append(`${name}:deliveries`, { ...common, deliveries: true, artifacts: false }),
    both: append(`${name}:both`, { ...common, deliveries: true, artifacts: true }),
  };
};
const [uncharged, charging] = [variants(false), variants(true)];
const byDead = append("append-for-dead", {
  owner: "dead",
  charged: true,
  deliveries: true,
  artifacts: true,
});

/** All variants of the append statement, for `runs/statements.sql`. */
export const appendStatements = [...Object.values(uncharged), ...Object.values(charging), byDead];

interface AppendOptions {
  /**
   * Whether any workspace is known to have a subscription. If one has, the statement that also
   * writes deliveries is sent at once. `appendToRuns` sets `some` when it finds a subscription.
   */
  readonly subscriptions: KnownSubscriptions;
  /**
   * Called if money or usage that runs had reserved was returned to limits, with the workspaces in
   * which other runs may wait for it.
   */
  readonly onReturned: (workspaceIds: readonly string[]) => void;
}

/**
 * Writes `rows`, at most one for each run, and returns a result for each, in the same order. The
 * result of a row that an earlier call has already written is `written`. Adds what the runs used to
 * the budgets that apply to them.
 */
export function appendToRuns(
  database: Database,
  rows: readonly AppendRow[],
  options: AppendOptions,
): Promise<AppendResult[]> {
  return write<AppendResult>(database, charging, rows, options, (row) => findReason(database, row));
}

/**
 * Like `appendToRuns`, but does not write the rows of workspaces with budgets: their result is
 * `limited`. Rows that hold a run must not be passed. The statement costs less and locks no rows
 * that several runs share.
 */
export function appendUncharged(
  database: Database,
  rows: readonly AppendRow[],
  options: AppendOptions,
): Promise<(AppendResult | Limited)[]> {
  return write<AppendResult | Limited>(database, uncharged, rows, options, (row, deferral) =>
    deferral === "limited" ? { kind: "limited" } : findReason(database, row),
  );
}

/** @param resultOf returns the result of a row that was not written. */
async function write<Result>(
  database: Database,
  { neither, deliveries, both }: ReturnType<typeof variants>,
  rows: readonly AppendRow[],
  { subscriptions, onReturned }: AppendOptions,
  resultOf: (row: AppendRow, deferral: Deferral | undefined) => Result | Promise<Result>,
): Promise<(Result | AppendResult)[]> {
  const withoutArtifacts = subscriptions.some ? deliveries : neither;
  let sent = await send(database, rows.some(hasArtifact) ? both : withoutArtifacts, rows);
  if (sent.deferred.get(1) === "subscribed") {
    // `neither` found a subscription, so it wrote nothing. The rows have no artifacts.
    subscriptions.some = true;
    sent = await send(database, deliveries, rows);
  }
  const { written, deferred, time } = sent;
  if (sent.woken.length > 0) onReturned(sent.woken);
  const result = { kind: "written" as const, time };
  if (written.size === rows.length) return rows.map(() => result);
  return Promise.all(
    rows.map((row, index) =>
      written.has(index + 1) ? result : resultOf(row, deferred.get(index + 1)),
    ),
  );
}

/**
 * Writes `rows`, whose runs belong to processes that were declared dead. Rows of runs that another
 * process has claimed since are not written.
 * @returns the positions of the rows that were written, counted from 0
 */
export async function appendForDead(
  database: Database,
  rows: readonly AppendRow[],
  onReturned: (workspaceIds: readonly string[]) => void = () => {},
): Promise<readonly number[]> {
  const { woken, written } = await send(database, byDead, rows);
  if (woken.length > 0) onReturned(woken);
  return rows.flatMap((_row, index) => (written.has(index + 1) ? index : []));
}

function hasArtifact({ entries }: AppendRow): boolean {
  return entries.some(({ artifact }) => artifact !== undefined);
}

type Deferral = "limited" | "subscribed";

/** The result of one statement. Rows are identified by their positions, counted from 1. */
interface Sent {
  readonly written: ReadonlySet<number>;
  /** Rows that this variant of the statement cannot write: see `Variant`. */
  readonly deferred: ReadonlyMap<number, Deferral>;
  readonly woken: readonly string[];
  readonly time: string;
}

async function send(
  database: Database,
  prepared: Statement<AppendInput>,
  rows: readonly AppendRow[],
): Promise<Sent> {
  const entries = rows.flatMap((row, index) =>
    row.entries.map((entry, number) => ({
      entry,
      write: index + 1,
      seq: row.lastSeq + 1 + number,
    })),
  );
  const ends = rows.flatMap((row, index) => {
    const end = endOf(row);
    return end === undefined ? [] : [{ ...end, write: index + 1 }];
  });
  const calls = rows.flatMap((row, index) => numbered(row, index + 1));
  const files = entries.flatMap(({ entry: { artifact }, write }) =>
    artifact === undefined ? [] : [{ ...artifact, write }],
  );
  const { rows: results } = await prepared.send<{
    written: number[] | null;
    deferred: [position: number, deferral: Deferral][] | null;
    woken: string[] | null;
    time: Date;
  }>(database.engine, { rows, entries, calls, ends, files });
  const [result] = results;
  if (result === undefined) throw new Error("the append statement returned no row");
  return {
    written: new Set(result.written),
    deferred: new Map(result.deferred),
    woken: result.woken ?? [],
    time: result.time.toISOString(),
  };
}

/** Returns the row's metered calls, with their numbers within their events. */
function numbered({ lastSeq, calls = [] }: AppendRow, write: number): CallInput[] {
  const counts = new Map<number, number>();
  return calls.map(({ entry, call }) => {
    const number = (counts.get(entry) ?? 0) + 1;
    counts.set(entry, number);
    return { call, write, seq: lastSeq + 1 + entry, number };
  });
}

/** Returns the columns of a row's token counts. */
function usageNumbers<Row>(
  usageOf: (row: Row) => TokenUsage,
): Record<string, (row: Row) => number> {
  return {
    input_tokens: (row) => usageOf(row).input_tokens,
    output_tokens: (row) => usageOf(row).output_tokens,
    cached_input_tokens: (row) => usageOf(row).cached_input_tokens,
    cache_write_tokens: (row) => usageOf(row).cache_write_tokens ?? 0,
    reasoning_tokens: (row) => usageOf(row).reasoning_tokens ?? 0,
  };
}

function slashOf({ modelName }: MeteredCall): number {
  return modelName.indexOf("/");
}
