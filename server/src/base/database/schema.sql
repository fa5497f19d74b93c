-- The schema after all migrations, made from the catalog: `node script/schema.ts` writes it, a test compares it.
-- For readers; nothing is created from it. The reasons are in the migrations.

CREATE OR REPLACE FUNCTION public.current_transaction()
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((pg_current_xact_id())::text)::bigint
;

CREATE OR REPLACE FUNCTION public.new_id(prefix text)
 RETURNS text
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    substring(b'00' || u.bits from 5 * n + 1 for 5)::bit(5)::int + 1, 1), '' order by n)
  from (
    select ('x' || lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
      || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::bit(128) as bits
  ) as u, generate_series(0, 25) as n
$function$
;

CREATE OR REPLACE FUNCTION public.period_of(now timestamp with time zone, time_zone text, kind text, anchor integer, OUT starts timestamp with time zone, OUT ends timestamp with time zone)
 RETURNS record
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is only ever added to', tg_table_name using errcode = 'restrict_violation';
end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_early_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of % are kept for at least % days', tg_table_name,
    coalesce(tg_argv[0], '30') using errcode = 'restrict_violation';
end $function$
;

CREATE OR REPLACE FUNCTION public.repeat_statement()
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a concurrent request has bound the same id' using errcode = 'serialization_failure';
end $function$
;

CREATE OR REPLACE FUNCTION public.run_input(prompt_prefix text, payload text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (prompt_prefix = ''::text) THEN payload WHEN (payload = ''::text) THEN prompt_prefix ELSE ((prompt_prefix || '

'::text) || payload) END
;

create table accounts (
  id text not null,
  user_id text not null,
  account_id text not null,
  method text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint accounts_method_account_id_key UNIQUE (method, account_id),
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX accounts_by_user ON public.accounts USING btree (user_id);
alter table accounts enable row level security;
alter table accounts force row level security;
create policy nobody on accounts as permissive for all to public using ((current_setting('beckon.workspace'::text, true) = '*'::text));

create table agent_secrets (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  origins text[] not null,
  sealed text not null,
  last4 text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint agent_secrets_pkey PRIMARY KEY (id, workspace_id),
  constraint agent_secrets_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id)
);
CREATE INDEX agent_secrets_by_agent ON public.agent_secrets USING btree (agent_id);
alter table agent_secrets enable row level security;
alter table agent_secrets force row level security;
create policy tenant on agent_secrets as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table agent_versions (
  agent_id text not null,
  workspace_id text not null,
  version integer not null,
  config jsonb not null,
  provider_id text,
  created_at timestamp with time zone not null default now(),
  created_by text not null,
  constraint agent_versions_pkey PRIMARY KEY (agent_id, version, workspace_id),
  constraint agent_versions_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id),
  constraint agent_versions_workspace_id_provider_id_fkey FOREIGN KEY (workspace_id, provider_id) REFERENCES providers(workspace_id, id)
);
alter table agent_versions enable row level security;
alter table agent_versions force row level security;
create policy tenant on agent_versions as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table agents (
  id text not null,
  workspace_id text not null,
  version integer not null,
  name text not null,
  max_concurrent_runs integer,
  max_queued_runs integer not null,
  paused_at timestamp with time zone,
  pause_reason text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint agents_pkey PRIMARY KEY (id, workspace_id),
  constraint agents_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX agents_deleted ON public.agents USING btree (deleted_at, id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX agents_limited ON public.agents USING btree (workspace_id, id) WHERE (max_concurrent_runs IS NOT NULL);
CREATE INDEX agents_list ON public.agents USING btree (workspace_id, id) WHERE (deleted_at IS NULL);
alter table agents enable row level security;
alter table agents force row level security;
create policy tenant on agents as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table artifacts (
  id text not null,
  workspace_id text not null,
  run_id text not null,
  media_type text not null,
  content bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint artifacts_pkey PRIMARY KEY (id, workspace_id),
  constraint artifacts_workspace_id_run_id_fkey FOREIGN KEY (workspace_id, run_id) REFERENCES runs(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX artifacts_by_run ON public.artifacts USING btree (run_id);
alter table artifacts enable row level security;
alter table artifacts force row level security;
create policy tenant on artifacts as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table audit (
  id text not null,
  workspace_id text not null,
  time timestamp with time zone not null default now(),
  actor text not null,
  address text,
  action text not null,
  target text not null,
  data jsonb not null,
  constraint audit_pkey PRIMARY KEY (id, workspace_id),
  constraint audit_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX audit_by_action ON public.audit USING btree (workspace_id, action, id);
CREATE INDEX audit_by_actor ON public.audit USING btree (workspace_id, actor, id);
CREATE INDEX audit_by_target ON public.audit USING btree (workspace_id, target, id);
CREATE INDEX audit_by_workspace ON public.audit USING btree (workspace_id, id);
alter table audit enable row level security;
alter table audit force row level security;
create policy tenant on audit as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));
CREATE TRIGGER kept_for_30_days BEFORE DELETE ON public.audit FOR EACH ROW WHEN ((old."time" > (now() - '720:00:00'::interval))) EXECUTE FUNCTION refuse_early_deletion();
CREATE TRIGGER only_added_to BEFORE UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table budgets (
  workspace_id text not null,
  scope_id text not null,
  scope_kind text not null,
  metric text not null,
  id bigint not null generated by default as identity,
  allowed bigint,
  changes_next boolean not null default false,
  next_allowed bigint,
  pauses_agent boolean not null default false,
  refused boolean not null default false,
  starts timestamp with time zone not null,
  ends timestamp with time zone not null,
  spent bigint not null default 0,
  reserved bigint not null default 0,
  crossed integer not null default 0,
  waiter_seen_at timestamp with time zone,
  constraint budgets_allowed_check CHECK ((allowed >= 0)),
  constraint budgets_crossed_check CHECK ((crossed = ANY (ARRAY[0, 50, 80, 100]))),
  constraint budgets_id_key UNIQUE (id),
  constraint budgets_metric_check CHECK ((metric = ANY (ARRAY['cost'::text, 'tokens'::text, 'voice'::text, 'browser'::text]))),
  constraint budgets_next_allowed_check CHECK ((next_allowed >= 0)),
  constraint budgets_pkey PRIMARY KEY (workspace_id, scope_id, scope_kind, metric),
  constraint budgets_reserved_check CHECK ((reserved >= 0)),
  constraint budgets_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['plan'::text, 'workspace'::text, 'agent'::text, 'key'::text, 'trigger'::text]))),
  constraint budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
) with (fillfactor=50);
alter table budgets enable row level security;
alter table budgets force row level security;
create policy tenant on budgets as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table ceilings (
  workspace_id text not null,
  scope_kind text not null,
  scope_id text not null,
  limit_micros bigint not null,
  pauses_agent boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint ceilings_limit_micros_check CHECK ((limit_micros >= 0)),
  constraint ceilings_pkey PRIMARY KEY (workspace_id, scope_kind, scope_id),
  constraint ceilings_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['workspace'::text, 'agent'::text, 'key'::text, 'trigger'::text]))),
  constraint ceilings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
alter table ceilings enable row level security;
alter table ceilings force row level security;
create policy tenant on ceilings as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table deliveries (
  id text not null,
  workspace_id text not null,
  subscription_id text not null,
  kind text not null,
  event_id text not null,
  type text not null,
  version integer not null,
  time timestamp with time zone not null default now(),
  agent_id text,
  run_id text,
  seq integer,
  data jsonb,
  callback_url text,
  status text not null,
  attempts integer not null default 0,
  next_at timestamp with time zone,
  last_status integer,
  last_error text,
  finished_at timestamp with time zone,
  claims integer not null default 0,
  constraint deliveries_pending_check CHECK (
CASE status
    WHEN 'pending'::text THEN ((next_at IS NOT NULL) AND (finished_at IS NULL))
    ELSE ((next_at IS NULL) AND (finished_at IS NOT NULL))
END) NOT VALID,
  constraint deliveries_pkey PRIMARY KEY (subscription_id, id)
) with (fillfactor=80);
CREATE INDEX deliveries_due ON public.deliveries USING btree (subscription_id, kind, next_at) WHERE (status = 'pending'::text);
CREATE INDEX deliveries_ended ON public.deliveries USING btree (subscription_id, status, finished_at) WHERE (status = ANY (ARRAY['failed'::text, 'not_sent'::text]));
CREATE INDEX deliveries_missed ON public.deliveries USING btree (subscription_id, status, id) WHERE (status = ANY (ARRAY['failed'::text, 'not_sent'::text]));
CREATE INDEX deliveries_of_run ON public.deliveries USING btree (run_id) WHERE (run_id IS NOT NULL);
alter table deliveries enable row level security;
alter table deliveries force row level security;
create policy tenant on deliveries as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table delivery_attempts (
  subscription_id text not null,
  delivery_id text not null,
  number integer not null,
  workspace_id text not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  url text not null,
  request_headers jsonb not null,
  status integer,
  response_headers jsonb not null,
  response_body text not null,
  error text,
  constraint delivery_attempts_pkey PRIMARY KEY (subscription_id, delivery_id, number)
);
alter table delivery_attempts enable row level security;
alter table delivery_attempts force row level security;
create policy tenant on delivery_attempts as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table events (
  run_id text not null,
  seq integer not null,
  workspace_id text not null,
  id text not null,
  type text not null,
  version integer not null,
  time timestamp with time zone not null default now(),
  data jsonb not null,
  transaction bigint not null default current_transaction(),
  constraint events_pkey PRIMARY KEY (run_id, seq)
);
CREATE INDEX events_stream ON public.events USING btree (workspace_id, transaction);
alter table events enable row level security;
alter table events force row level security;
create policy tenant on events as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table idempotency (
  workspace_id text not null,
  scope text not null,
  key text not null,
  body_hash bytea not null,
  run_id text,
  answer text,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_check CHECK ((num_nonnulls(run_id, answer) <= 1)),
  constraint idempotency_pkey PRIMARY KEY (workspace_id, scope, key),
  constraint idempotency_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX idempotency_age ON public.idempotency USING btree (created_at);
CREATE INDEX idempotency_answers ON public.idempotency USING btree (workspace_id, scope, key) WHERE (answer IS NOT NULL);
alter table idempotency enable row level security;
alter table idempotency force row level security;
create policy tenant on idempotency as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table installation (
  only_row boolean not null default true,
  generation uuid not null default gen_random_uuid(),
  master_key_check text,
  created_at timestamp with time zone not null default now(),
  setup_hash bytea,
  history text,
  pruning_process text,
  pruned_at timestamp with time zone,
  running_since timestamp with time zone,
  earlier_setup_hashes bytea[] not null default '{}'::bytea[],
  constraint installation_only_row_check CHECK (only_row),
  constraint installation_pkey PRIMARY KEY (only_row)
);

create table invitations (
  id text not null,
  workspace_id text not null,
  email text not null,
  role text not null,
  hash bytea not null,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitations_email_check CHECK ((email = lower(email))),
  constraint invitations_hash_key UNIQUE (hash),
  constraint invitations_pkey PRIMARY KEY (id, workspace_id),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  constraint invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX invitations_list ON public.invitations USING btree (workspace_id, id);
alter table invitations enable row level security;
alter table invitations force row level security;
create policy tenant on invitations as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table key_secrets (
  hash bytea not null,
  workspace_id text not null,
  key_id text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  constraint key_secrets_pkey PRIMARY KEY (hash),
  constraint key_secrets_workspace_id_key_id_fkey FOREIGN KEY (workspace_id, key_id) REFERENCES keys(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX key_secrets_by_key ON public.key_secrets USING btree (key_id);
CREATE UNIQUE INDEX key_secrets_current ON public.key_secrets USING btree (key_id) WHERE (expires_at IS NULL);
CREATE UNIQUE INDEX key_secrets_predecessor ON public.key_secrets USING btree (key_id) WHERE (expires_at IS NOT NULL);
alter table key_secrets enable row level security;
alter table key_secrets force row level security;
create policy tenant on key_secrets as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table keys (
  id text not null,
  workspace_id text not null,
  name text not null,
  scopes text[] not null,
  agent_ids text[],
  bootstrap boolean not null default false,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint keys_pkey PRIMARY KEY (id, workspace_id),
  constraint keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX keys_bootstrap ON public.keys USING btree (workspace_id) WHERE bootstrap;
CREATE INDEX keys_list ON public.keys USING btree (workspace_id, id);
alter table keys enable row level security;
alter table keys force row level security;
create policy tenant on keys as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table members (
  user_id text not null,
  workspace_id text not null,
  role text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint members_pkey PRIMARY KEY (user_id, workspace_id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX members_list ON public.members USING btree (workspace_id, user_id);
alter table members enable row level security;
alter table members force row level security;
create policy tenant on members as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table migrations (
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
);

create table password_resets (
  user_id text not null,
  hash bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  created_by text not null,
  created_in text not null,
  constraint password_resets_created_in_fkey FOREIGN KEY (created_in) REFERENCES workspaces(id),
  constraint password_resets_hash_key UNIQUE (hash),
  constraint password_resets_pkey PRIMARY KEY (user_id),
  constraint password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
alter table password_resets enable row level security;
alter table password_resets force row level security;
create policy nobody on password_resets as permissive for all to public using ((current_setting('beckon.workspace'::text, true) = '*'::text));

create table plans (
  id text not null,
  workspace_id text not null,
  name text not null,
  tokens bigint,
  voice_ms bigint,
  browser_ms bigint,
  cost_micros bigint,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint plans_browser_ms_check CHECK ((browser_ms >= 0)),
  constraint plans_cost_micros_check CHECK ((cost_micros >= 0)),
  constraint plans_pkey PRIMARY KEY (id, workspace_id),
  constraint plans_tokens_check CHECK ((tokens >= 0)),
  constraint plans_voice_ms_check CHECK ((voice_ms >= 0)),
  constraint plans_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint plans_workspace_id_name_key UNIQUE (workspace_id, name)
);
alter table plans enable row level security;
alter table plans force row level security;
create policy tenant on plans as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table prices (
  id text not null,
  workspace_id text not null,
  provider_id text not null,
  model text not null,
  input_micros_per_million integer not null,
  output_micros_per_million integer not null,
  cached_input_micros_per_million integer,
  cache_write_micros_per_million integer,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint prices_cache_write_micros_per_million_check CHECK ((cache_write_micros_per_million >= 0)),
  constraint prices_cached_input_micros_per_million_check CHECK ((cached_input_micros_per_million >= 0)),
  constraint prices_input_micros_per_million_check CHECK ((input_micros_per_million >= 0)),
  constraint prices_output_micros_per_million_check CHECK ((output_micros_per_million >= 0)),
  constraint prices_pkey PRIMARY KEY (id, workspace_id),
  constraint prices_workspace_id_provider_id_fkey FOREIGN KEY (workspace_id, provider_id) REFERENCES providers(workspace_id, id)
);
CREATE UNIQUE INDEX prices_model ON public.prices USING btree (workspace_id, provider_id, model);
alter table prices enable row level security;
alter table prices force row level security;
create policy tenant on prices as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table processes (
  id text not null,
  engine_version integer not null,
  started_at timestamp with time zone not null default now(),
  lease_until timestamp with time zone not null,
  died_at timestamp with time zone,
  suspects integer,
  accepts_runs boolean not null default true,
  lease_seconds double precision,
  constraint processes_pkey PRIMARY KEY (id)
);
CREATE INDEX processes_alive ON public.processes USING btree (lease_until) WHERE (died_at IS NULL);

create table providers (
  id text not null,
  workspace_id text not null,
  name text not null,
  kind text not null,
  base_url text,
  api_key_sealed text,
  api_key_last4 text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  api_key_url text,
  free boolean not null default false,
  constraint providers_pkey PRIMARY KEY (id, workspace_id),
  constraint providers_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX providers_name ON public.providers USING btree (workspace_id, name) WHERE (deleted_at IS NULL);
alter table providers enable row level security;
alter table providers force row level security;
create policy tenant on providers as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table received_requests (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text not null,
  received_at timestamp with time zone not null default now(),
  outcome text not null,
  error text,
  event_id text,
  event_type text,
  run_id text,
  replay_of text,
  agent_version integer,
  address text,
  content_type text,
  content_encoding text,
  size integer not null,
  query text,
  headers jsonb,
  body bytea,
  constraint received_requests_outcome_check CHECK ((outcome = ANY (ARRAY['started'::text, 'held'::text, 'repeated'::text, 'mapping_error'::text, 'limit_reached'::text, 'filtered'::text, 'captured'::text, 'honeypot'::text, 'swallowed'::text, 'invalid_signature'::text, 'rejected'::text]))),
  constraint received_requests_pkey PRIMARY KEY (trigger_id, id)
);
CREATE INDEX received_requests_by_time ON public.received_requests USING btree (received_at);
CREATE INDEX received_requests_of_outcome ON public.received_requests USING btree (trigger_id, outcome, id);
CREATE INDEX received_requests_of_run ON public.received_requests USING btree (run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX received_requests_of_type ON public.received_requests USING btree (trigger_id, event_type, id) WHERE (event_type IS NOT NULL);
CREATE INDEX received_requests_replays ON public.received_requests USING btree (trigger_id, replay_of) WHERE (replay_of IS NOT NULL);
CREATE INDEX received_requests_stored ON public.received_requests USING btree (trigger_id, id) WHERE (body IS NOT NULL);
CREATE INDEX received_requests_without_run ON public.received_requests USING btree (trigger_id, event_id) WHERE ((run_id IS NULL) AND (event_id IS NOT NULL) AND (body IS NOT NULL));
alter table received_requests enable row level security;
alter table received_requests force row level security;
create policy tenant on received_requests as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table request_counts (
  workspace_id text not null,
  trigger_id text not null,
  outcome text not null,
  minute timestamp with time zone not null,
  count integer not null,
  constraint request_counts_pkey PRIMARY KEY (trigger_id, outcome, minute)
);
CREATE INDEX request_counts_by_time ON public.request_counts USING btree (minute);
alter table request_counts enable row level security;
alter table request_counts force row level security;
create policy tenant on request_counts as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table reservations (
  run_id text not null,
  workspace_id text not null,
  agent_id text not null,
  principal text not null,
  trigger_id text,
  state text not null,
  asked_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  asked jsonb,
  cost_micros bigint,
  plan_cost_micros bigint,
  tokens bigint not null default 0,
  voice_ms bigint not null default 0,
  browser_ms bigint not null default 0,
  held_in bigint[] not null default '{}'::bigint[],
  constraint reservations_pkey PRIMARY KEY (run_id, workspace_id),
  constraint reservations_state_check CHECK ((state = ANY (ARRAY['held'::text, 'waiting'::text])))
) with (fillfactor=70);
CREATE INDEX reservations_waiting ON public.reservations USING btree (workspace_id, asked_at) WHERE (state = 'waiting'::text);
alter table reservations enable row level security;
alter table reservations force row level security;
create policy tenant on reservations as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table run_callbacks (
  run_id text not null,
  workspace_id text not null,
  subscription_id text not null,
  url text not null,
  constraint run_callbacks_pkey PRIMARY KEY (run_id, workspace_id)
);
alter table run_callbacks enable row level security;
alter table run_callbacks force row level security;
create policy tenant on run_callbacks as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table run_drafts (
  run_id text not null,
  workspace_id text not null,
  config jsonb not null,
  provider_id text,
  constraint run_drafts_pkey PRIMARY KEY (run_id, workspace_id)
);
alter table run_drafts enable row level security;
alter table run_drafts force row level security;
create policy tenant on run_drafts as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table run_inputs (
  run_id text not null,
  workspace_id text not null,
  agent_version integer not null,
  source text not null,
  trigger_id text,
  payload text not null,
  prompt_prefix text not null default ''::text,
  content_type text,
  principal text not null,
  conversation_id text,
  parent_run_id text,
  root_run_id text,
  depth integer not null default 0,
  retry_of text,
  engine_version integer not null,
  external_id text,
  tags text[],
  constraint run_inputs_pkey PRIMARY KEY (run_id, workspace_id)
);
CREATE INDEX run_inputs_by_external_id ON public.run_inputs USING btree (workspace_id, external_id, run_id) WHERE (external_id IS NOT NULL);
alter table run_inputs enable row level security;
alter table run_inputs force row level security;
create policy tenant on run_inputs as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

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
  cost_micros bigint,
  cache_write_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  limit_reached jsonb,
  constraint run_results_pkey PRIMARY KEY (run_id, workspace_id)
);
alter table run_results enable row level security;
alter table run_results force row level security;
create policy tenant on run_results as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table runs (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  status text not null,
  owner text,
  fence integer not null,
  attempt integer not null default 1,
  last_seq integer not null,
  cancel_requested_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  last_transaction bigint not null default current_transaction(),
  waited_ms bigint not null default 0,
  released_at timestamp with time zone,
  constraint runs_check CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
  constraint runs_pkey PRIMARY KEY (id, workspace_id),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
) with (fillfactor=85);
CREATE INDEX runs_by_agent ON public.runs USING btree (agent_id, id);
CREATE INDEX runs_by_workspace ON public.runs USING btree (workspace_id, id);
CREATE INDEX runs_queued ON public.runs USING btree (workspace_id, agent_id, id) WHERE (status = 'queued'::text);
CREATE INDEX runs_running ON public.runs USING btree (owner, agent_id) WHERE (status = 'running'::text);
CREATE INDEX runs_waiting ON public.runs USING btree (workspace_id, agent_id, id) WHERE (status = 'waiting'::text);
alter table runs enable row level security;
alter table runs force row level security;
create policy tenant on runs as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table sessions (
  id text not null,
  user_id text not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_key UNIQUE (token),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id, id);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy nobody on sessions as permissive for all to public using ((current_setting('beckon.workspace'::text, true) = '*'::text));

create table subscriptions (
  id text not null,
  workspace_id text not null,
  url text not null,
  description text not null,
  event_types text[] not null,
  agent_ids text[],
  trigger_ids text[],
  tags text[],
  payload text not null,
  format text not null,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamp with time zone,
  headers text,
  header_names text[] not null default '{}'::text[],
  status text not null default 'enabled'::text,
  disabled_reason text,
  inactive_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  failing_since timestamp with time zone,
  created_by text not null,
  version integer not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  not_before timestamp with time zone,
  constraint subscriptions_check CHECK (((disabled_reason IS NOT NULL) = (status = 'disabled'::text))),
  constraint subscriptions_check1 CHECK (((inactive_since IS NULL) = (status = 'enabled'::text))),
  constraint subscriptions_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['failing'::text, 'gone'::text, 'backlog'::text]))),
  constraint subscriptions_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'cloudevents'::text]))),
  constraint subscriptions_payload_check CHECK ((payload = ANY (ARRAY['full'::text, 'thin'::text]))),
  constraint subscriptions_pkey PRIMARY KEY (id, workspace_id),
  constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'paused'::text, 'disabled'::text]))),
  constraint subscriptions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX subscriptions_of_workspace ON public.subscriptions USING btree (workspace_id, id) WHERE (deleted_at IS NULL);
alter table subscriptions enable row level security;
alter table subscriptions force row level security;
create policy tenant on subscriptions as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table tokens (
  hash bytea not null,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text,
  sealed text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  constraint tokens_pkey PRIMARY KEY (hash),
  constraint tokens_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id),
  constraint tokens_workspace_id_trigger_id_fkey FOREIGN KEY (workspace_id, trigger_id) REFERENCES triggers(workspace_id, id)
);
CREATE INDEX tokens_by_agent ON public.tokens USING btree (agent_id);
CREATE UNIQUE INDEX tokens_current ON public.tokens USING btree (COALESCE(trigger_id, agent_id)) WHERE (expires_at IS NULL);
CREATE UNIQUE INDEX tokens_predecessor ON public.tokens USING btree (COALESCE(trigger_id, agent_id)) WHERE (expires_at IS NOT NULL);
alter table tokens enable row level security;
alter table tokens force row level security;
create policy tenant on tokens as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table trigger_event_ids (
  workspace_id text not null,
  trigger_id text not null,
  event_id text not null,
  run_id text not null,
  expires_at timestamp with time zone not null,
  constraint trigger_event_ids_pkey PRIMARY KEY (trigger_id, event_id)
);
CREATE INDEX trigger_event_ids_by_expiry ON public.trigger_event_ids USING btree (expires_at);
alter table trigger_event_ids enable row level security;
alter table trigger_event_ids force row level security;
create policy tenant on trigger_event_ids as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table triggers (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  name text not null,
  prompt_prefix text not null,
  enabled boolean not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  allows_callback boolean not null default false,
  receiving jsonb,
  receiving_version integer not null default 0,
  sender_secret text,
  previous_sender_secret text,
  previous_sender_secret_until timestamp with time zone,
  verify_token text,
  listening_until timestamp with time zone,
  constraint triggers_pkey PRIMARY KEY (id, workspace_id),
  constraint triggers_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id)
);
CREATE INDEX triggers_list ON public.triggers USING btree (agent_id, id) WHERE (deleted_at IS NULL);
alter table triggers enable row level security;
alter table triggers force row level security;
create policy tenant on triggers as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table usage_days (
  id bigint not null generated by default as identity,
  workspace_id text not null,
  day date not null,
  agent_id text not null,
  provider text not null,
  model text not null,
  principal text not null,
  trigger_id text,
  kind text not null,
  entries bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  voice_ms bigint not null,
  browser_ms bigint not null,
  cost_micros bigint not null,
  unknown_cost_entries bigint not null,
  standard_cost_micros bigint not null,
  unknown_standard_cost_entries bigint not null,
  estimated_entries bigint not null,
  constraint usage_days_pkey PRIMARY KEY (id)
);
CREATE INDEX usage_days_by_day ON public.usage_days USING btree (workspace_id, day);
alter table usage_days enable row level security;
alter table usage_days force row level security;
create policy tenant on usage_days as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table usage_entries (
  run_id text not null,
  seq integer not null,
  number integer not null,
  workspace_id text not null,
  time timestamp with time zone not null default now(),
  day date not null,
  agent_id text not null,
  source text not null,
  principal text not null,
  trigger_id text,
  tags text[],
  step integer not null,
  attempt integer not null,
  outcome text not null,
  kind text not null,
  provider text not null,
  model text not null,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  voice_ms bigint not null default 0,
  browser_ms bigint not null default 0,
  cost_micros bigint,
  standard_cost_micros bigint,
  price_origin text,
  estimated boolean not null,
  transaction bigint not null default current_transaction(),
  constraint usage_entries_kind_check CHECK ((kind = ANY (ARRAY['model'::text, 'voice'::text, 'browser'::text]))),
  constraint usage_entries_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'failed'::text, 'lost'::text]))),
  constraint usage_entries_pkey PRIMARY KEY (run_id, seq, number, workspace_id)
);
CREATE INDEX usage_entries_by_time ON public.usage_entries USING btree (workspace_id, "time");
CREATE INDEX usage_entries_rolled_up ON public.usage_entries USING btree (workspace_id, transaction);
alter table usage_entries enable row level security;
alter table usage_entries force row level security;
create policy tenant on usage_entries as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));
CREATE TRIGGER kept_for_62_days BEFORE DELETE ON public.usage_entries FOR EACH ROW WHEN ((old."time" > (now() - '1488:00:00'::interval))) EXECUTE FUNCTION refuse_early_deletion('62');
CREATE TRIGGER only_added_to BEFORE UPDATE OF run_id, seq, number, workspace_id, "time", day, agent_id, source, principal, trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros, standard_cost_micros, price_origin, estimated OR TRUNCATE ON public.usage_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

create table usage_rollups (
  workspace_id text not null,
  up_to bigint not null,
  merged_before date not null,
  deleted_until timestamp with time zone,
  constraint usage_rollups_pkey PRIMARY KEY (workspace_id),
  constraint usage_rollups_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
alter table usage_rollups enable row level security;
alter table usage_rollups force row level security;
create policy tenant on usage_rollups as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table users (
  id text not null,
  name text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_pkey PRIMARY KEY (id)
);
CREATE INDEX users_by_email ON public.users USING btree (email, id);
alter table users enable row level security;
alter table users force row level security;
create policy members on users as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (EXISTS ( SELECT
   FROM members m
  WHERE ((m.user_id = users.id) AND (m.workspace_id = current_setting('beckon.workspace'::text, true)))))));

create table verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX verifications_by_identifier ON public.verifications USING btree (identifier);
alter table verifications enable row level security;
alter table verifications force row level security;
create policy nobody on verifications as permissive for all to public using ((current_setting('beckon.workspace'::text, true) = '*'::text));

create table workspace_events (
  number bigint not null generated by default as identity,
  id text not null,
  workspace_id text not null,
  agent_id text,
  transaction bigint not null default current_transaction(),
  type text not null,
  version integer not null,
  time timestamp with time zone not null default now(),
  data jsonb not null,
  constraint workspace_events_pkey PRIMARY KEY (number),
  constraint workspace_events_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id),
  constraint workspace_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX workspace_events_by_id ON public.workspace_events USING btree (id);
CREATE INDEX workspace_events_stream ON public.workspace_events USING btree (workspace_id, transaction, number);
alter table workspace_events enable row level security;
alter table workspace_events force row level security;
create policy tenant on workspace_events as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = workspace_id)));

create table workspaces (
  id text not null,
  name text not null,
  created_at timestamp with time zone not null default now(),
  time_zone text not null default 'UTC'::text,
  updated_at timestamp with time zone not null default now(),
  plan text,
  next_plan text,
  plan_anchor integer not null default 1,
  run_retention_days integer,
  time_zone_changed_at timestamp with time zone,
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_plan_anchor_check CHECK (((plan_anchor >= 1) AND (plan_anchor <= 31))),
  constraint workspaces_run_retention_days_check CHECK (((run_retention_days >= 7) AND (run_retention_days <= 3650)))
);
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy tenant on workspaces as permissive for all to public using (((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = id)));
