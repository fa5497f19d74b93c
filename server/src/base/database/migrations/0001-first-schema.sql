-- The first schema. Conventions, here and in every later migration:
-- * Ids are TypeIDs made by the server. A tenant table's key is (id, workspace_id) in this order: found by id alone, and
--   referenced as a pair, so that a row can never point into another workspace.
-- * Row-level security is the second net under the where clauses: a connection sees a workspace only after it has named it
--   in the setting beckon.workspace; '*' sees all and is used by the engine and by credential look-ups only.
-- * text, never varchar; timestamptz, always from this database's clock.

create table installation (
  only_row boolean primary key default true check (only_row),
  -- Another generation (a restored backup, a new install) makes cursors of the old one void.
  generation uuid not null default gen_random_uuid(),
  -- A known text sealed with the master key: a start with another key is refused.
  master_key_check text,
  created_at timestamptz not null default now()
);
insert into installation default values;

-- One row per server process. Alive: died_at is null. A death is recorded, never guessed: see runs.owner.
create table processes (
  id text primary key,
  engine_version int not null,
  started_at timestamptz not null default now(),
  lease_until timestamptz not null,
  died_at timestamptz
);
create index processes_alive on processes (lease_until) where died_at is null;

create table workspaces (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table providers (
  id text not null,
  workspace_id text not null references workspaces,
  name text not null,
  kind text not null,
  base_url text,
  api_key_sealed text,
  api_key_last4 text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (id, workspace_id)
);
create unique index providers_name on providers (workspace_id, name) where deleted_at is null;

create table agents (
  id text not null,
  workspace_id text not null references workspaces,
  -- The current version; what it holds is in agent_versions. Name and the two limits below repeat it, because lists and the
  -- start statement read them.
  version int not null,
  name text not null,
  max_concurrent_runs int,
  max_queued_runs int not null,
  paused_at timestamptz,
  pause_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (id, workspace_id)
);
create index agents_list on agents (workspace_id, id) where deleted_at is null;
-- Those whose queued runs are claimed agent by agent.
create index agents_limited on agents (workspace_id, id) where max_concurrent_runs is not null;

-- Immutable: a change of an agent inserts the next version, a run pins one.
create table agent_versions (
  agent_id text not null,
  workspace_id text not null,
  version int not null,
  config jsonb not null,
  -- null: none of this workspace's (a model the server has built in or is given by its environment).
  provider_id text,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (agent_id, version, workspace_id),
  foreign key (workspace_id, agent_id) references agents (workspace_id, id),
  foreign key (workspace_id, provider_id) references providers (workspace_id, id)
);

-- Credentials that an agent's tools send, sealed. A version's configuration names them by id: a new value takes the place of the
-- old one for every version, a deleted one is gone for every version.
create table agent_secrets (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  -- Where it was given to be sent, for example https://api.example.com: to no other scheme, host or port. Sealed with it.
  origins text[] not null,
  sealed text not null,
  last4 text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (id, workspace_id),
  foreign key (workspace_id, agent_id) references agents (workspace_id, id)
);
create index agent_secrets_by_agent on agent_secrets (agent_id);

-- What a key may do. Revoked means deleted; what opens it is in key_secrets.
create table keys (
  id text not null,
  workspace_id text not null references workspaces,
  name text not null,
  scopes text[] not null,
  -- The agents it is limited to; null: all. An agent that is deleted stays in the list, since it may be restored.
  agent_ids text[],
  -- The one key that is made equal to BECKON_BOOTSTRAP_KEY at every start.
  bootstrap boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  expires_at timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  primary key (id, workspace_id)
);
create index keys_list on keys (workspace_id, id);
create unique index keys_bootstrap on keys (workspace_id) where bootstrap;

-- What a key's holder sends, as its hash: it is shown once and never again. A row with expires_at is the predecessor that a rotation
-- left in its grace, and at most one lives.
create table key_secrets (
  hash bytea primary key,
  workspace_id text not null,
  key_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  foreign key (workspace_id, key_id) references keys (workspace_id, id) on delete cascade
);
create index key_secrets_by_key on key_secrets (key_id);
create unique index key_secrets_current on key_secrets (key_id) where expires_at is null;
create unique index key_secrets_predecessor on key_secrets (key_id) where expires_at is not null;

create table triggers (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  name text not null,
  prompt_prefix text not null,
  enabled boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (id, workspace_id),
  foreign key (workspace_id, agent_id) references agents (workspace_id, id)
);
create index triggers_list on triggers (agent_id, id) where deleted_at is null;

-- Tokens of agents (trigger_id is null) and of triggers. Revoked means deleted; a row with expires_at is the predecessor that
-- a rotation left in its grace, and at most one lives.
create table tokens (
  hash bytea primary key,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text,
  sealed text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  foreign key (workspace_id, agent_id) references agents (workspace_id, id),
  foreign key (workspace_id, trigger_id) references triggers (workspace_id, id)
);
create index tokens_by_agent on tokens (agent_id);
create unique index tokens_current on tokens (coalesce(trigger_id, agent_id)) where expires_at is null;
create unique index tokens_predecessor on tokens (coalesce(trigger_id, agent_id)) where expires_at is not null;

-- The fenced row: every write of a run is an update of it, so it is narrow, and has room to be updated in place.
create table runs (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  status text not null check (status in ('queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')),
  -- The process that executes it, kept after the end. A running run whose owner has died may be claimed again.
  owner text,
  -- Rises by one on every claim and is never reset: with owner and last_seq it fences every write.
  fence int not null,
  -- Processes this run has been given to after a death, plus one.
  attempt int not null default 1,
  last_seq int not null,
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  primary key (id, workspace_id),
  foreign key (workspace_id, agent_id) references agents (workspace_id, id),
  check ((status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
) with (fillfactor = 85);
create index runs_by_workspace on runs (workspace_id, id);
create index runs_by_agent on runs (agent_id, id);
create index runs_queued on runs (workspace_id, agent_id, id) where status = 'queued';
create index runs_running on runs (owner, agent_id) where status = 'running';

-- Three tables hang on a run without a foreign key. They are filled only by statements whose rows come from the insert or update of the
-- run's own row, so they cannot point elsewhere; and checking each row again was a fifth of what a run costs this database
-- (docs/decisions/0003-gathered-writes.md). Whoever deletes a run deletes them with it.

-- What a run was started with; never changes. The input the model sees is made of payload and prompt_prefix by run_input().
create table run_inputs (
  run_id text not null,
  workspace_id text not null,
  agent_version int not null,
  source text not null,
  trigger_id text,
  payload text not null,
  prompt_prefix text not null default '',
  content_type text,
  -- Who started it: the actor's kind and id, for example "token:agt_…" or "key:key_…".
  principal text not null,
  conversation_id text,
  parent_run_id text,
  root_run_id text,
  depth int not null default 0,
  retry_of text,
  engine_version int not null,
  primary key (run_id, workspace_id)
);

-- What a run ended with: one row, written with the end.
create table run_results (
  run_id text not null,
  workspace_id text not null,
  output text,
  error_code text,
  error_message text,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  usage_estimated boolean not null,
  -- null: the model's price is not known.
  cost_micros bigint,
  primary key (run_id, workspace_id)
);

-- The journal. seq counts from 1 within the run, without gaps.
create table events (
  run_id text not null,
  seq int not null,
  workspace_id text not null,
  id text not null,
  type text not null,
  version int not null,
  time timestamptz not null default now(),
  -- Over 64 KiB it is kept as an artifact and stands here as {"artifact_id", "bytes"}.
  data jsonb not null,
  primary key (run_id, seq)
);

-- Files a run made, pruned with it.
create table artifacts (
  id text not null,
  workspace_id text not null,
  run_id text not null,
  media_type text not null,
  content bytea not null,
  created_at timestamptz not null default now(),
  primary key (id, workspace_id),
  foreign key (workspace_id, run_id) references runs (workspace_id, id) on delete cascade
);
create index artifacts_by_run on artifacts (run_id);

-- A started run or a management answer bound to an Idempotency-Key. Scope: the agent (invoke), the trigger (fire), else
-- principal, method and path.
create table idempotency (
  workspace_id text not null references workspaces,
  scope text not null,
  key text not null,
  body_hash bytea not null,
  run_id text,
  -- Sealed, since it may hold a token.
  answer text,
  created_at timestamptz not null default now(),
  primary key (workspace_id, scope, key),
  check (num_nonnulls(run_id, answer) <= 1)
);
create index idempotency_age on idempotency (created_at);
-- For a change of the master key: answers are few among the runs that are bound.
create index idempotency_answers on idempotency (workspace_id, scope, key) where answer is not null;

-- Who did what, written in the transaction of the change. Never holds a secret, and is only ever added to: the trigger below refuses the
-- rest, whoever asks.
create table audit (
  id text not null,
  workspace_id text not null references workspaces,
  time timestamptz not null default now(),
  actor text not null,
  -- Where the request came from; null: from inside.
  address text,
  action text not null,
  target text not null,
  data jsonb not null,
  primary key (id, workspace_id)
);
create index audit_by_workspace on audit (workspace_id, id);
create index audit_by_target on audit (workspace_id, target, id);
create index audit_by_actor on audit (workspace_id, actor, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is only ever added to', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger only_added_to before update or delete or truncate on audit for each statement execute function refuse_change();

-- What the model sees first. Kept in one place, since the start statement judges it and every reader shows it.
create function run_input(prompt_prefix text, payload text) returns text
language sql immutable parallel safe
return case when prompt_prefix = '' then payload when payload = '' then prompt_prefix else prompt_prefix || E'\n\n' || payload end;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['providers', 'agents', 'agent_versions', 'agent_secrets', 'tokens', 'keys', 'key_secrets', 'triggers',
    'runs', 'run_inputs', 'run_results', 'events', 'artifacts', 'idempotency', 'audit']
  loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format($policy$create policy tenant on %I using (current_setting('beckon.workspace', true) in ('*', workspace_id))$policy$, tenant_table);
  end loop;
end $$;
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy tenant on workspaces using (current_setting('beckon.workspace', true) in ('*', id));
