-- Subscriptions to events, and the deliveries of events to their receivers.

create table subscriptions (
  id text not null,
  workspace_id text not null references workspaces,
  url text not null,
  description text not null,
  event_types text[] not null,
  -- Only events of these agents, or of runs that these triggers started, or of runs with one of
  -- these tags; null: no such condition.
  agent_ids text[],
  trigger_ids text[],
  tags text[],
  payload text not null check (payload in ('full', 'thin')),
  format text not null check (format in ('standard', 'cloudevents')),
  -- Encrypted for the URL's origin, as are the extra headers, which are a JSON object.
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  headers text,
  header_names text[] not null default '{}',
  status text not null default 'enabled' check (status in ('enabled', 'paused', 'disabled')),
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'backlog')),
  inactive_since timestamptz,
  -- Results of attempts. They do not change `updated_at`.
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  -- Since when every attempt has failed.
  failing_since timestamptz,
  created_by text not null,
  -- Counts changes, for If-Match. Results of attempts do not change it.
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (id, workspace_id),
  check ((disabled_reason is not null) = (status = 'disabled')),
  check ((inactive_since is null) = (status = 'enabled'))
);
create index subscriptions_of_workspace on subscriptions (workspace_id, id) where deleted_at is null;

-- One row per event and subscription, and one more if the subscription also gets the event as a
-- run's callback. The statement that writes the event writes them. Like the tables of runs, this
-- table has no foreign keys: see docs/decisions/0003-gathered-writes.md.
create table deliveries (
  id text not null,
  workspace_id text not null,
  subscription_id text not null,
  kind text not null check (kind in ('event', 'callback', 'test')),
  event_id text not null,
  type text not null,
  version int not null,
  time timestamptz not null default now(),
  agent_id text,
  -- null for workspace events. Tests have the ids of the documented examples.
  run_id text,
  seq int,
  -- A copy of the event's data, as the event can be deleted with its run. null: the payload is thin,
  -- was deleted, or the status is not_sent.
  data jsonb,
  -- The receiver of a callback; null: the subscription's URL at the time of the attempt.
  callback_url text,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'cancelled', 'not_sent')),
  -- Attempts since the delivery was created or last replayed. The number of an attempt in
  -- delivery_attempts counts all of them.
  attempts int not null default 0,
  -- When a pending delivery is attempted. An attempt in progress has moved it past its own time-out,
  -- so that another process repeats the attempt if this one exits.
  next_at timestamptz,
  last_status int,
  last_error text,
  -- When the status last stopped being pending.
  finished_at timestamptz,
  -- Begins with the time in the event's id, so that ids are sorted by the time of the event.
  primary key (subscription_id, id),
  check ((next_at is not null) = (status = 'pending')),
  check ((finished_at is null) = (status = 'pending'))
) with (fillfactor = 80);
create index deliveries_due on deliveries (subscription_id, next_at) where status = 'pending';
-- What a subscription missed, to list and to replay it.
create index deliveries_missed on deliveries (subscription_id, status, id)
  where status in ('failed', 'not_sent');
-- To count what failed in the last 24 hours.
create index deliveries_failed on deliveries (subscription_id, finished_at)
  where status = 'failed';
create index deliveries_of_run on deliveries (run_id) where run_id is not null;

create table delivery_attempts (
  subscription_id text not null,
  delivery_id text not null,
  -- Counts from 1 over all replays.
  number int not null,
  workspace_id text not null,
  started_at timestamptz not null,
  duration_ms int not null,
  url text not null,
  -- Without signature and extra headers.
  request_headers jsonb not null,
  -- null if no response arrived.
  status int,
  response_headers jsonb not null,
  -- At most 4 KiB.
  response_body text not null,
  error text,
  primary key (subscription_id, delivery_id, number)
);

-- Where the last event of a run is also delivered, as the request demanded that started the run.
-- A row is written by the statement that writes its run.
create table run_callbacks (
  run_id text not null,
  workspace_id text not null,
  subscription_id text not null,
  url text not null,
  primary key (run_id, workspace_id)
);

-- For GET /events/:event_id.
create index workspace_events_by_id on workspace_events (id);

alter table triggers add column allows_callback boolean not null default false;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array
    array['subscriptions', 'deliveries', 'delivery_attempts', 'run_callbacks']
  loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format($policy$create policy tenant on %I using (current_setting('beckon.workspace', true) in ('*', workspace_id))$policy$, tenant_table);
  end loop;
end $$;
