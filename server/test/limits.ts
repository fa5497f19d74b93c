import type { Pool } from "pg";
import type { Answer, CallOptions, TestBeckon } from "./beckon.ts";
import type { ModelServer } from "./model-server.ts";
import { zoneAtNoon } from "./zone-at-noon.ts";

type Queryable = Pick<Pool, "query">;

/** A workspace with a provider of its own, whose calls cost what a test sets. */
export interface PricedWorkspace {
  readonly id: string;
  readonly key: string;
  /** `provider/model` of the scripted model. */
  readonly model: string;
  call(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Creates an agent that uses `model`. */
  agent(body?: Record<string, unknown>): Promise<{ id: string; token: string }>;
  trigger(agentId: string): Promise<{ id: string; url: string }>;
  /** Sets a ceiling in micro-dollars. */
  ceiling(scope: string, scopeId: string, limitMicros: number, more?: object): Promise<void>;
}

/** Prices in micro-dollars for a million tokens. */
export interface TestRates {
  readonly input: number;
  /** Default: the price of input. */
  readonly cachedInput?: number;
  /** Default: the price of input. */
  readonly cacheWrite?: number;
  readonly output: number;
}

/** Each output token costs a micro-dollar, and input is free. */
const perOutputToken: TestRates = { input: 0, output: 1_000_000 };

/**
 * Creates a workspace with a provider that sends its calls to the model server. Its time zone is
 * that of `zoneAtNoon`, so that its daily ceilings do not reset during a test.
 * @param rates prices of the model; null: it has no price. Default: one micro-dollar for each
 *   output token, and nothing for input.
 */
export async function pricedWorkspace(
  beckon: TestBeckon,
  server: ModelServer,
  rates: TestRates | null = perOutputToken,
): Promise<PricedWorkspace> {
  const { id, key } = (
    await beckon.call("/workspaces", { body: { name: "Test", time_zone: zoneAtNoon() } })
  ).body.data;
  const call = (path: string, body?: unknown, options: CallOptions = {}) =>
    beckon.call(path, { credential: key, body, ...options });
  const data = async (path: string, body: unknown, options: CallOptions = {}) => {
    const answer = await call(path, body, options);
    if (answer.status >= 400)
      throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body?.data;
  };
  const model = "scripted/priced";
  await data("/providers", { name: "scripted", kind: "openai-compatible", base_url: server.url });
  if (rates !== null)
    await data("/prices", {
      model,
      input_micros_per_million: rates.input,
      cached_input_micros_per_million: rates.cachedInput ?? null,
      cache_write_micros_per_million: rates.cacheWrite ?? null,
      output_micros_per_million: rates.output,
    });
  return {
    id,
    key,
    model,
    call,
    agent: (body = {}) => data("/agents", { name: "Test", model, ...body }),
    trigger: (agentId) => data(`/agents/${agentId}/triggers`, { name: "Test" }),
    ceiling: (scope, scopeId, limitMicros, more = {}) =>
      data(
        `/limits/${scope}/${scopeId}`,
        { limit_micros: limitMicros, ...more },
        { method: "PUT" },
      ),
  };
}

/**
 * Checks the table `budgets`, which has one row for each limit and its current period. Returns one
 * line for each violation of these rules:
 * - the amount spent is the sum of the usage ledger's entries in the budget's period;
 * - the amount reserved is the sum of the reservations that count against the budget;
 * - the amounts spent and reserved together do not exceed the allowed amount;
 * - only runs that have not ended have reservations.
 * @param workspaceId default: all workspaces.
 */
export async function wrongWithBudgets(
  database: Queryable,
  workspaceId?: string,
): Promise<string[]> {
  const { rows } = await database.query<{ wrong: string }>(
    `
with sums as (
  select b.*, (
    select coalesce(sum(case b.metric
        when 'cost' then case when b.scope_kind = 'plan'
          then coalesce(e.standard_cost_micros, e.cost_micros) else e.cost_micros end
        when 'tokens' then e.input_tokens + e.output_tokens
        when 'voice' then e.voice_ms else e.browser_ms end), 0)
    from usage_entries e
    where e.workspace_id = b.workspace_id and e.time >= b.starts and e.time < b.ends
      and case b.scope_kind when 'agent' then e.agent_id = b.scope_id
        when 'key' then e.principal = 'key:' || b.scope_id
        when 'trigger' then e.trigger_id = b.scope_id else true end
  ) as ledger, (
    select coalesce(sum(case b.metric
        when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
          else v.cost_micros end
        when 'tokens' then v.tokens
        when 'voice' then v.voice_ms else v.browser_ms end), 0)
    from reservations v where b.id = any (v.held_in)
  ) as held
  from budgets b where b.workspace_id = $1 or $1 is null
)
select format('%s %s: %s of %s are spent, %s in the ledger', scope_kind, scope_id, spent, allowed, ledger)
  as wrong
from sums where spent <> ledger
union all
select format('%s %s: %s are reserved, %s held by runs', scope_kind, scope_id, reserved, held)
from sums where reserved <> held
union all
select format('%s %s: %s spent and %s reserved exceed %s', scope_kind, scope_id, spent, reserved, allowed)
from sums where spent + reserved > allowed
union all
select format('run %s is %s and has a reservation', r.id, r.status)
from reservations v join runs r on r.id = v.run_id where r.finished_at is not null and (r.workspace_id = $1 or $1 is null)`,
    [workspaceId ?? null],
  );
  return rows.map(({ wrong }) => wrong);
}

/**
 * Returns the amounts spent and reserved of each budget of a workspace, by scope and metric, for
 * example `agent cost`.
 */
export async function budgetsOf(
  database: Queryable,
  workspaceId: string,
): Promise<Record<string, { spent: number; reserved: number }>> {
  const { rows } = await database.query<{ name: string; spent: string; reserved: string }>(
    `select scope_kind || ' ' || metric as name, spent, reserved from budgets where workspace_id = $1`,
    [workspaceId],
  );
  return Object.fromEntries(
    rows.map(({ name, spent, reserved }) => [
      name,
      { spent: Number(spent), reserved: Number(reserved) },
    ]),
  );
}
