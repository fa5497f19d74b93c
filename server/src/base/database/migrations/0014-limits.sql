-- Limits of what a workspace uses: plans, ceilings, and reservations that hold them.

-- The period of an allowance or a ceiling that contains a moment: a local date ('day'), or a month
-- that begins on the anchor day ('month'), which is clamped to the month's last day.
-- A period begins at the first moment at which the zone's clock shows its first date or a later one,
-- and ends where the next one begins. So periods adjoin, also where summer time skips or repeats
-- midnight. The zone is an IANA name or a POSIX string.
-- Days are only added to timestamps without zone: the length of a day of timestamptz depends on the
-- zone of the session.
create function period_of(
  now timestamptz, time_zone text, kind text, anchor int,
  out starts timestamptz, out ends timestamptz
) language sql immutable parallel safe as $$
  select
    max(begins) filter (where begins <= period_of.now),
    min(begins) filter (where begins > period_of.now)
  -- Several periods around the moment, as the local date can repeat when a clock is set back.
  from generate_series(-2, 2) as away
  cross join lateral (
    select date_trunc('month', period_of.now at time zone time_zone)
      + make_interval(months => away) as month
  ) as months
  cross join lateral (
    select case kind
      when 'day' then date_trunc('day', period_of.now at time zone time_zone)
        + make_interval(days => away)
      when 'month' then month + make_interval(
        days => least(anchor, extract(day from month + interval '1 month -1 day')::int) - 1)
    end as midnight
  ) as midnights
  -- In UTC. PostgreSQL takes a local time that exists twice as the later one, and one that does not
  -- exist by the offset before the change.
  cross join lateral (
    select midnight at time zone time_zone at time zone 'UTC' as later
  ) as later_ones
  -- The same local time by the offset of a day before.
  cross join lateral (
    select midnight
      - ((later - interval '24 hours') at time zone 'UTC' at time zone time_zone
        - (later - interval '24 hours')) as earlier
  ) as earlier_ones
  cross join lateral (
    select
      later at time zone 'UTC' at time zone time_zone as later_shows,
      earlier at time zone 'UTC' at time zone time_zone as earlier_shows
  ) as clocks
  cross join lateral (
    select case
      when later_shows = midnight and earlier_shows = midnight then least(earlier, later)
      when later_shows = midnight then later
      -- Midnight is skipped: the change lies between the two.
      else coalesce(
        (select min(minute) from generate_series(
            later - (later_shows - midnight), later, interval '1 minute') as minute
          where minute at time zone 'UTC' at time zone time_zone >= midnight),
        later)
    end at time zone 'UTC' as begins
  ) as boundaries
$$;

-- Plans that owners of the workspace `default` define. A plan of the operator's file has no row.
create table plans (
  id text not null,
  workspace_id text not null references workspaces,
  name text not null,
  -- Allowances of a month; null: unlimited.
  tokens bigint check (tokens >= 0),
  voice_ms bigint check (voice_ms >= 0),
  browser_ms bigint check (browser_ms >= 0),
  cost_micros bigint check (cost_micros >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (id, workspace_id),
  unique (workspace_id, name)
);

alter table workspaces
  -- Names of plans; null: the built-in plan `unlimited`, or no change.
  add column plan text,
  -- Takes effect at the end of the plan's period.
  add column next_plan text,
  -- The day of the month on which the periods of the plan start.
  add column plan_anchor int not null default 1 check (plan_anchor between 1 and 31);

-- Limits in money for a day.
create table ceilings (
  workspace_id text not null references workspaces,
  scope_kind text not null check (scope_kind in ('workspace', 'agent', 'key', 'trigger')),
  -- The id of the workspace, agent, key or trigger.
  scope_id text not null,
  limit_micros bigint not null check (limit_micros >= 0),
  pauses_agent boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, scope_kind, scope_id)
);

-- One row for each limit that applies now: of a ceiling, or of one metric of the workspace's plan.
-- What is used is added to `spent` by the statement that writes the entries of the ledger. Rows are
-- locked in the order of the primary key, and before rows of `reservations`.
create table budgets (
  workspace_id text not null references workspaces,
  -- The id of the workspace for the kinds `plan` and `workspace`.
  scope_id text not null,
  scope_kind text not null check (scope_kind in ('plan', 'workspace', 'agent', 'key', 'trigger')),
  metric text not null check (metric in ('cost', 'tokens', 'voice', 'browser')),
  -- Another limit of the same scope and metric gets another id: see reservations.held_in.
  id bigint generated by default as identity unique,
  -- Micro-dollars, tokens or milliseconds; null: unlimited until the next period.
  allowed bigint check (allowed >= 0),
  -- Whether `next_allowed` takes the place of `allowed` when the next period starts.
  changes_next boolean not null default false,
  next_allowed bigint check (next_allowed >= 0),
  -- Whether the agents in the scope are paused while nothing is left. Then `refused` says that a
  -- model call was rejected in this period because of what is spent.
  pauses_agent boolean not null default false,
  refused boolean not null default false,
  -- The period. It is over at `ends`; the next statement that locks the row starts the next one.
  starts timestamptz not null,
  ends timestamptz not null,
  spent bigint not null default 0,
  -- The sum of the reservations that have this row in `held_in`. It does not change when a period
  -- ends: what these calls use will be spent in the next period.
  reserved bigint not null default 0 check (reserved >= 0),
  -- The highest of 50, 80 and 100 percent that was reached in the period; 0 before.
  crossed int not null default 0 check (crossed in (0, 50, 80, 100)),
  -- When a run last waited for what is reserved. Then those that return money notify the processes.
  waiter_seen_at timestamptz,
  primary key (workspace_id, scope_id, scope_kind, metric)
) with (fillfactor = 50);

-- What the model call that a run makes now can use at most. A run has at most one row, since its
-- calls follow each other. The row is deleted when what was used is written to the ledger.
create table reservations (
  run_id text not null,
  workspace_id text not null references workspaces,
  -- What determines the budgets that apply: as in runs and run_inputs.
  agent_id text not null,
  principal text not null,
  trigger_id text,
  -- waiting: what the run asks for fits what is not spent, but not what is neither spent nor
  -- reserved. The run calls no model until it holds it.
  state text not null check (state in ('held', 'waiting')),
  -- Runs that wait get their turn in this order.
  asked_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  -- The amounts that a waiting run asks for.
  asked jsonb,
  -- The amounts that the run holds. A waiting run only holds those of failed attempts of the same
  -- call, which are not written to the ledger yet. A cost is null if no price is known.
  -- `plan_cost_micros` is the cost as it counts for a plan.
  cost_micros bigint,
  plan_cost_micros bigint,
  tokens bigint not null default 0,
  voice_ms bigint not null default 0,
  browser_ms bigint not null default 0,
  -- The ids of the budgets whose `reserved` contains these amounts.
  held_in bigint[] not null default '{}',
  primary key (run_id, workspace_id)
) with (fillfactor = 70);
create index reservations_waiting on reservations (workspace_id, asked_at) where state = 'waiting';

-- The limit that ended a run, as GET shows it.
alter table run_results add column limit_reached jsonb;

-- Returns an id as the servers generate them: a UUID of version 7 in base 32 (https://typeid.dev).
-- Only for rows whose number a statement does not know before it is sent.
create function new_id(prefix text) returns text language sql volatile parallel safe as $$
  select prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    substring(b'00' || u.bits from 5 * n + 1 for 5)::bit(5)::int + 1, 1), '' order by n)
  from (
    select ('x' || lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
      || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::bit(128) as bits
  ) as u, generate_series(0, 25) as n
$$;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['plans', 'ceilings', 'budgets', 'reservations']
  loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format($policy$create policy tenant on %I using (current_setting('beckon.workspace', true) in ('*', workspace_id))$policy$, tenant_table);
  end loop;
end $$;
