-- What triggers accept, and the requests that they received.

alter table triggers
  -- `Receiving` in contract/src/receiving.ts; null: the trigger accepts what every trigger accepts.
  add column receiving jsonb,
  -- Counts changes of `receiving` and of the secrets. The start statement rejects a request that was
  -- verified with settings of another version.
  add column receiving_version int not null default 0,
  -- Encrypted. The secret that the sender signs with or sends, and Meta's verify token.
  add column sender_secret text,
  add column previous_sender_secret text,
  add column previous_sender_secret_until timestamptz,
  add column verify_token text,
  -- Until then the next verified request is captured as a sample.
  add column listening_until timestamptz;

-- One row per request to a trigger with `receiving`, also if it started no run. Like the tables of
-- runs, this table has no foreign keys: see docs/decisions/0003-gathered-writes.md.
create table received_requests (
  id text not null,
  workspace_id text not null,
  agent_id text not null,
  trigger_id text not null,
  received_at timestamptz not null default now(),
  outcome text not null check (outcome in ('started', 'held', 'repeated', 'mapping_error',
    'limit_reached', 'filtered', 'captured', 'honeypot', 'swallowed', 'invalid_signature', 'rejected')),
  error text,
  event_id text,
  event_type text,
  run_id text,
  replay_of text,
  -- The agent's version at the time.
  agent_version int,
  address text,
  content_type text,
  content_encoding text,
  -- Of the body as it was received, in bytes.
  size int not null,
  -- null if the signature was not valid, or the request was deleted with its run.
  query text,
  headers jsonb,
  body bytea,
  primary key (trigger_id, id)
);
create index received_requests_of_outcome on received_requests (trigger_id, outcome, id);
create index received_requests_of_type on received_requests (trigger_id, event_type, id)
  where event_type is not null;
create index received_requests_of_run on received_requests (run_id) where run_id is not null;
create index received_requests_by_time on received_requests (received_at);

-- The ids of events that started or hold a run. They outlive the run and the received request.
create table trigger_event_ids (
  workspace_id text not null,
  trigger_id text not null,
  event_id text not null,
  run_id text not null,
  expires_at timestamptz not null,
  primary key (trigger_id, event_id)
);
create index trigger_event_ids_by_expiry on trigger_event_ids (expires_at);

-- Requests that started no run and that the sender can repeat without end, counted per minute and
-- outcome: of each minute at most 60 of an outcome are stored in received_requests.
create table request_counts (
  workspace_id text not null,
  trigger_id text not null,
  outcome text not null,
  minute timestamptz not null,
  count int not null,
  primary key (trigger_id, outcome, minute)
);
create index request_counts_by_time on request_counts (minute);

-- When a held run was queued. A queued run expires 24 hours after this time or, if it was not held,
-- after its creation.
alter table runs add column released_at timestamptz;
create index runs_waiting on runs (workspace_id, agent_id, id) where status = 'waiting';

-- Ends a statement with an error after which it is repeated. The start statement calls it if a
-- concurrent request has bound only one of the two ids that a request binds.
create function repeat_statement() returns boolean language plpgsql as $$
begin
  raise exception 'a concurrent request has bound the same id' using errcode = 'serialization_failure';
end $$;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array
    array['received_requests', 'trigger_event_ids', 'request_counts']
  loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format($policy$create policy tenant on %I using (current_setting('beckon.workspace', true) in ('*', workspace_id))$policy$, tenant_table);
  end loop;
end $$;
