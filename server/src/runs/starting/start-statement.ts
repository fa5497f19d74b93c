import {
  type Column,
  type Parameters,
  type Statement,
  sqlList,
  statement,
} from "../../base/database/index.ts";
import { isAgentToken, isKeySecret, isTriggerToken } from "../../credentials/index.ts";
import {
  holdsRunsSql,
  isSpentSql,
  pausesAgentSql,
  reserveFirstCalls,
} from "../../reservations/index.ts";
import { finalEvent, insertRuns, nothingUsed } from "../journal/index.ts";
import { admissionChecks, batchChecks, isAdmittedSql, toBranch } from "./admission-checks.ts";
import { overLimit } from "./over-limit.ts";
import { noReceived, type ReceivedSql, receivedSql } from "./received-sql.ts";
import { callersTable } from "./start-callers.ts";
import { type Parts, partNames } from "./start-parts.ts";
import { type InitialFailure, initialError, type StartRow } from "./start-row.ts";

/**
 * A batch of requests. Requests that share a caller (see `groupByCaller`) have one entry in
 * `callers`, so that the statement checks each caller only once.
 */
export interface StartInput {
  readonly rows: readonly StartRow[];
  readonly callers: readonly StartRow[];
  /** For each row the position of its caller in `callers`, counted from 1. */
  readonly callerOf: readonly number[];
  /**
   * Ids of the workspaces and agents whose runs wait in this process, for memory or for a limit.
   * New runs of these are queued.
   */
  readonly queuedIds: readonly string[];
}

/**
 * Creates the statement that starts runs and is also their admission check. In one statement and
 * one commit it checks every row against the same snapshot, writes the runs that start, and returns
 * a result for each row.
 */
function startStatement(parts: Parts): Statement<StartInput> {
  const chosen = partNames.filter((part) => parts[part]);
  return statement<StartInput>(["start", ...chosen].join(":"), (p) => {
    const callers = callersTable(p, parts);
    const requests = requestsTable(p, parts);
    const details = parts.details && detailsTable(p);
    const isAdmitted = isAdmittedSql(parts);
    const received = parts.received ? receivedSql(p, parts, { scope, isAdmitted }) : noReceived;
    const queuedIds = p.value("text[]", (input) => input.queuedIds);
    const isBound = allOf(
      parts.keys && "(key is null or not binds_key or run_id in (select run_id from bound))",
      received.isEventBound,
    );
    const ctes = sqlList(
      callersCte(parts, received, { callers, queuedIds }),
      details && `details as materialized (select * from ${details})`,
      checkedCte(parts, received, requests),
      `busy as (
  ${overLimit(parts, "queued", { owner: "agent_id", earlier: "queued", max: "max_queued_runs" })}
)`,
      received.bindEvents,
      parts.keys && boundCte(allOf(`(${isAdmitted})`, received.isEventBound)),
      `starting as not materialized (
  select * from checked where check_result = 'start' and (${isAdmitted}) and (${isBound})
)`,
      insertRuns("starting", {
        detailed: parts.details,
        labelled: parts.labels,
        withCallback: parts.callbacks,
        withDeliveries: parts.deliveries,
      }),
      parts.details && writeDetails,
      received.writeRequests,
      parts.firstCalls && reserveFirstCalls("starting"),
    );
    return `
with ${ctes}
select ${resultsColumn(parts, isBound)},
  ${sqlList(callersColumn, received.repeatIfHalfBound)}`;
  });
}

/** Returns the common table expression `callers`: what is stored of each caller of the batch. */
function callersCte(
  parts: Parts,
  received: ReceivedSql,
  { callers, queuedIds }: { readonly callers: string; readonly queuedIds: string },
): string {
  const { triggers, callbacks, limits } = parts;
  const joins = joinsOfCallers(parts);
  const columns = sqlList(
    "g.enabled",
    triggers && "g.receiving_version as current_version",
    received.columnsOfCallers,
    triggers && callbacks && "g.allows_callback",
  );
  return `callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, ${columns}, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    ${limits ? "reached.reached, paused.reached as paused_by" : "null::json as reached, null::json as paused_by"},
    -- Queued runs are counted only for an agent whose run would be queued. Concurrent batches can
    -- exceed the queue limit together.
    case when not immediate.running and a.paused_at is null then (select count(*) from (
      select from runs q
      where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id
      limit a.max_queued_runs
    ) as counted) end as queued,
    case when g.id is not null then 'trigger:' || g.id when t.hash is not null then 'token:' || a.id
      when c.authenticated_as is not null then c.authenticated_as
      else 'key:' || k.id end as principal,
    case
      when t.hash is null and k.id is null and c.authenticated_as is null then 'unauthorized'
      when t.hash is not null and (${isValidToken(parts)}) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from ${callers}
  left join lateral (
    select t.hash, t.workspace_id, t.agent_id, t.trigger_id, t.expires_at
    from tokens t where t.hash = c.credential
      and (t.trigger_id is not null) = (c.source = 'trigger')
      and (c.source = 'trigger' or t.agent_id = c.agent) limit 1
  ) t on true
  left join lateral (
    select s.workspace_id, s.key_id, s.expires_at
    from key_secrets s where c.source = 'invoke' and s.hash = c.credential limit 1
  ) s on true
  left join lateral (
    select k.id, k.workspace_id, k.scopes, k.agent_ids
    from keys k where ${isKeySecret("s", "k")} limit 1
  ) k on true
  left join lateral (
    select a.id, a.workspace_id, a.version, a.max_concurrent_runs, a.max_queued_runs, a.paused_at,
      a.deleted_at
    from agents a where a.id = case when t.hash is null then c.agent else t.agent_id end
      and a.workspace_id = case when t.hash is not null then t.workspace_id
        when c.authenticated_as is not null then c.workspace else k.workspace_id end
      and (a.deleted_at is null or c.detailed)
      and (k.agent_ids is null or a.id = any (k.agent_ids)) limit 1
  ) a on true
  ${joins.trigger}
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all (${queuedIds}) and a.id <> all (${queuedIds})
      and c.owner = any (array(select p.id from processes p where p.died_at is null)) as running
  ) immediate
  left join lateral (
    select extract(epoch from p.updated_at)::text as stamp
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = a.id and v.version = a.version limit 1
  ) provider on true
  left join lateral (
    select true as is_limited from budgets b where b.workspace_id = a.workspace_id limit 1
  ) limits on true
  ${joins.limits}
)`;
}

/** Returns the common table expression `checked`: each request with the result of its checks. */
function checkedCte(parts: Parts, received: ReceivedSql, requests: string): string {
  const joins = joinsOfChecked(parts);
  const reached = reachedBy(parts);
  const bindsKey = parts.keys && "d.error_code is null or d.binds_key as binds_key";
  const replayedRun = parts.received
    ? "case when seen.run_id is not null then seen.run_id else old.run_id end"
    : "old.run_id";
  const signer = parts.callbacks && "signer.id as callback_subscription_id";
  return `checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, ${sqlList(`${scope} as scope`, bindsKey)},
    case when d.error_code is not null then 'failed'
      ${parts.received ? `when c.holds and (c.is_paused or ${reached} is not null) then 'waiting'` : ""}
      when c.running then 'running' else 'queued' end as status,
    ${sqlList(`${replayedRun} as replayed_run`, received.columnsOfChecked)},
    ${sqlList(`${reached} as reached, c.paused_by`, signer)},
    case
      ${admissionChecks(parts, reached).map(toBranch).join("\n      ")}
      else 'start'
    end as check_result
  from ${requests}
  join callers c on c.caller_position = r.caller
  ${joins.details}
  ${joins.earlierRun}
  ${received.joinsOfChecked}
  ${joins.limitsOfTrigger}
  ${joins.signer}
  ${joins.written}
)`;
}

/** Returns the result column with one entry for each request. */
function resultsColumn(parts: Parts, isBound: string): string {
  const fields = sqlList(
    "'position', position",
    `'kind', case
    when check_result <> 'start' then check_result
    ${batchChecks(parts, isBound).map(toBranch).join("\n    ")}
    else status
  end`,
    "'replayed_run', replayed_run",
    parts.limits &&
      "'limit', case when check_result = 'limit_paused' then paused_by when check_result = 'limit_reached' then reached end",
    parts.firstCalls &&
      `'first_call_reserved', run_id in (select run_id from first_reservations),
    'first_call_restricted', run_id not in (select run_id from unrestricted_first_calls)`,
  );
  return `(select json_agg(json_build_object(${fields})) from checked) as results`;
}

/** SQL of the result column with one entry for each caller. */
const callersColumn = `(select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers`;

/** SQL of the scope of a request's Idempotency-Key. */
const scope =
  "case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end";

/** SQL of the limit that a request reaches; null if it reaches none. */
const reachedBy = ({ limits, details }: Parts) =>
  limits && details ? "coalesce(c.reached, of_trigger.reached)" : "c.reached";

/** Returns the conjunction of the conditions. One that is empty or false is left out. */
const allOf = (...conditions: readonly (string | false)[]) =>
  conditions.filter(Boolean).join(" and ") || "true";

/** Joins of `callers` that only some variants have, or the nulls that replace them. */
function joinsOfCallers(parts: Parts) {
  const { triggers, limits } = parts;
  return {
    trigger: triggers
      ? `left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true`
      : nullRow("g", "id text, enabled boolean, prompt_prefix text"),
    limits: limits
      ? `left join lateral (
    ${reachedLimit(parts, "b.scope_id = any (array[a.workspace_id, a.id, g.id, case when k.id is not null then k.id when c.authenticated_as like 'key:%' then substr(c.authenticated_as, 5) end])")}
  ) reached on true
  left join lateral (
    ${pausingLimit}
  ) paused on true`
      : "",
  };
}

/** Joins of `checked` that only some variants have, or the nulls that replace them. */
function joinsOfChecked(parts: Parts) {
  const { keys, details, callbacks, limits, resent } = parts;
  return {
    details: details
      ? "left join details d on d.request = r.position"
      : nullRow(
          "d",
          "version int, trigger_id text, prompt_prefix text, retry_of text, key_scope text, " +
            "audit_id text, audit_address text, audit_action text, audit_data jsonb, " +
            "error_code text, error_message text, event_data jsonb, binds_key boolean",
        ),
    limitsOfTrigger:
      limits && details
        ? `left join lateral (
    ${reachedLimit(parts, "b.scope_id = d.trigger_id", "c")}
  ) of_trigger on true`
        : "",
    earlierRun: keys
      ? `left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = ${scope} and i.key = r.key limit 1
  ) old on true`
      : nullRow("old", "run_id text, body_hash bytea"),
    signer: callbacks
      ? `left join lateral (
    -- If several subscriptions match, the oldest one signs the callback. Subscriptions store URLs
    -- as URL.href writes them, so origins can be compared as text.
    select s.id from subscriptions s
    where r.callback_url is not null and s.workspace_id = c.workspace_id and s.deleted_at is null
      and s.status = 'enabled' and (s.agent_ids is null or c.agent_id = any (s.agent_ids))
      and substring(s.url from '^https?://[^/?#]+') = r.callback_origin
    order by s.id limit 1
  ) signer on true`
      : "",
    written: resent
      ? `left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true`
      : nullRow("written", "run_id text"),
  };
}

/**
 * Returns a join that takes the place of a table that no request of the batch needs. All its
 * columns are null, so the planner removes it.
 * @param columns names and types, separated by commas
 */
const nullRow = (alias: string, columns: string) =>
  `cross join (select ${columns.replace(/(\w+) (\w+)/g, "null::$2 as $1")}) ${alias}`;

/**
 * Returns the condition that the token of a caller is valid. It is needed because the lateral
 * subquery `t`, which looks up a token by its hash, also finds tokens that are no longer valid.
 */
const isValidToken = ({ triggers }: Parts) =>
  triggers
    ? `case when c.source = 'trigger' then ${isTriggerToken("t", "g", "a")} else ${isAgentToken("t", "a")} end`
    : isAgentToken("t", "a");

/** Returns the common table expression `bound`, which binds Idempotency-Keys. */
const boundCte = (isStarting: string) => `bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and ${isStarting}
  order by scope, key, position
  on conflict do nothing
  returning run_id
)`;

/** Common table expressions that write the audit entries and drafts of `details`. */
const writeDetails = `recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)`;

/** SQL that describes a budget in the form of `LimitReached`. */
const describeBudget = `json_build_object('scope', b.scope_kind, 'scope_id', b.scope_id,
      'metric', b.metric, 'used', b.spent, 'limit', b.allowed, 'resets_at', b.ends)`;

/**
 * Returns SQL that selects a budget that is spent; if there are several, the one that resets last.
 * Every run uses cost and tokens by calling a model, so only budgets of these two are checked. A
 * budget of 0 of which nothing is spent rejects no start, because a run can still call models that
 * are free. If the caller holds runs, a budget that has rejected a model call because too little
 * was left counts as spent, too.
 */
const reachedLimit = (
  { received }: Parts,
  condition: string,
  caller: "a" | "c" = "a",
) => `select ${describeBudget} as reached
    from budgets b
    where ${caller === "a" ? "limits" : "c"}.is_limited and b.workspace_id = ${caller}.workspace_id
      and ${condition} and now() < b.ends
      and b.metric in ('cost', 'tokens')
      and ${received ? `case when c.holds then ${holdsRunsSql} else ${isSpentSql} end` : isSpentSql}
    order by b.ends desc, b.id limit 1`;

/**
 * SQL that selects the budget that pauses the agent; if there are several, the one that resets
 * last.
 */
const pausingLimit = `select ${describeBudget} as reached
    from budgets b
    where limits.is_limited and b.workspace_id = a.workspace_id and b.scope_id = a.id
      and ${pausesAgentSql}
    order by b.ends desc, b.id limit 1`;

function requestsTable(
  p: Parameters<StartInput>,
  { labels, callbacks, firstCalls }: Parts,
): string {
  const select = ({ rows, callerOf }: StartInput) =>
    rows.map((row, index) => ({ row, caller: callerOf[index] ?? 0 }));
  return p.rows("r", select, {
    ...(labels ? labelColumns : {}),
    ...(callbacks ? callbackColumns : {}),
    ...(firstCalls ? firstCallColumns : {}),
    run_id: ["text", ({ row }) => row.runId],
    event_id: ["text", ({ row }) => row.eventId],
    caller: ["int", ({ caller }) => caller],
    key: ["text", ({ row }) => row.key],
    body_hash: ["bytea", ({ row }) => row.bodyHash],
    payload: ["text", ({ row }) => row.payload],
  }).table;
}

/**
 * The tags of a run are sent as one text with one tag per line. In a PostgreSQL array of arrays,
 * all runs would need the same number of tags.
 */
const labelColumns: Readonly<Record<string, Column<{ readonly row: StartRow }>>> = {
  external_id: ["text", ({ row }) => row.labels?.externalId ?? null],
  tags: ["text", ({ row }) => row.labels?.tags.join("\n") || null],
};

const callbackColumns: Readonly<Record<string, Column<{ readonly row: StartRow }>>> = {
  callback_url: ["text", ({ row }) => row.callback?.url ?? null],
  callback_origin: ["text", ({ row }) => row.callback?.origin ?? null],
};

const firstCallColumns: Readonly<Record<string, Column<{ readonly row: StartRow }>>> = {
  call_cost_micros: ["bigint", ({ row }) => row.firstCallAmounts?.costMicros ?? null],
  call_plan_cost_micros: ["bigint", ({ row }) => row.firstCallAmounts?.planCostMicros ?? null],
  call_tokens: ["bigint", ({ row }) => row.firstCallAmounts?.tokens ?? null],
};

function detailsTable(p: Parameters<StartInput>): string {
  const select = ({ rows }: StartInput) =>
    rows.flatMap(({ details, files = [] }, index) =>
      details === undefined ? [] : [{ ...details, files, request: index + 1 }],
    );
  return p.rows("d", select, {
    request: ["int", (row) => row.request],
    version: ["int", (row) => row.version],
    trigger_id: ["text", (row) => row.triggerId],
    prompt_prefix: ["text", (row) => row.promptPrefix],
    retry_of: ["text", (row) => row.retryOf],
    copies_files: ["boolean", ({ files }) => files.some((file) => "copyOf" in file)],
    key_scope: ["text", (row) => row.keyScope],
    draft: ["text", (row) => row.draft?.config ?? null],
    draft_provider_id: ["text", (row) => row.draft?.providerId ?? null],
    audit_id: ["text", (row) => row.audit?.id ?? null],
    audit_address: ["text", (row) => row.audit?.address ?? null],
    audit_action: ["text", (row) => row.audit?.action ?? null],
    audit_data: ["jsonb", (row) => row.audit?.data ?? "{}"],
    error_code: ["text", (row) => initialError(row)?.code ?? null],
    error_message: ["text", (row) => initialError(row)?.message ?? null],
    event_data: ["jsonb", (row) => failedData(initialError(row))],
    binds_key: ["boolean", (row) => initialError(row)?.bindsKey === true],
  }).table;
}

/**
 * Returns the data of `run.failed`, the only event of a run that is created in the state `failed`.
 */
function failedData(error: InitialFailure | undefined): string {
  return error === undefined
    ? "{}"
    : JSON.stringify(
        finalEvent({
          status: "failed",
          error: { code: error.code, message: error.message },
          ...(error.limit === undefined ? {} : { limit: error.limit }),
          ...nothingUsed,
        }).data,
      );
}

/**
 * The variants of the statement created so far, by their parts. They are kept so that the text of
 * each variant is built only once.
 */
const statements = new Map<string, Statement<StartInput>>();

/** Returns the variant of the start statement that has the given parts. */
export function statementFor(parts: Parts): Statement<StartInput> {
  const variant = partNames.map((part) => parts[part]).join(" ");
  let prepared = statements.get(variant);
  if (prepared === undefined) {
    prepared = startStatement(parts);
    statements.set(variant, prepared);
  }
  return prepared;
}

/**
 * Returns the variants of the statement that `statements.sql` shows: every combination of triggers,
 * keys, details and resent, and one variant with all parts.
 */
export function startStatements(): Statement<StartInput>[] {
  const all = (isIncluded: boolean) =>
    Object.fromEntries(partNames.map((part) => [part, isIncluded])) as Parts;
  const choices = [false, true];
  const combinations = choices.flatMap((triggers) =>
    choices.flatMap((keys) =>
      choices.flatMap((details) =>
        choices.map((resent) => ({ ...all(false), triggers, keys, details, resent })),
      ),
    ),
  );
  return [...combinations, all(true)].map(startStatement);
}
