-- start
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($17::text[]) and a.id <> all ($17::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  cross join (select null::text as run_id, null::bytea as body_hash) old



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($17::text[]) and a.id <> all ($17::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  cross join (select null::text as run_id, null::bytea as body_hash) old



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:details
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($34::text[]) and a.id <> all ($34::text[])
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

), details as materialized (select * from unnest($17::int[], $18::int[], $19::text[], $20::text[], $21::text[], $22::boolean[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::jsonb[], $30::text[], $31::text[], $32::jsonb[], $33::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  cross join (select null::text as run_id, null::bytea as body_hash) old



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:details:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($34::text[]) and a.id <> all ($34::text[])
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

), details as materialized (select * from unnest($17::int[], $18::int[], $19::text[], $20::text[], $21::text[], $22::boolean[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::jsonb[], $30::text[], $31::text[], $32::jsonb[], $33::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  cross join (select null::text as run_id, null::bytea as body_hash) old



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:keys
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($17::text[]) and a.id <> all ($17::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:keys:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($17::text[]) and a.id <> all ($17::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:keys:details
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($34::text[]) and a.id <> all ($34::text[])
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

), details as materialized (select * from unnest($17::int[], $18::int[], $19::text[], $20::text[], $21::text[], $22::boolean[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::jsonb[], $30::text[], $31::text[], $32::jsonb[], $33::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:keys:details:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($34::text[]) and a.id <> all ($34::text[])
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

), details as materialized (select * from unnest($17::int[], $18::int[], $19::text[], $20::text[], $21::text[], $22::boolean[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::jsonb[], $30::text[], $31::text[], $32::jsonb[], $33::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($11::text[], $12::text[], $13::int[], $14::text[], $15::bytea[], $16::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($18::text[]) and a.id <> all ($18::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  cross join (select null::text as run_id, null::bytea as body_hash) old



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($18::text[]) and a.id <> all ($18::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  cross join (select null::text as run_id, null::bytea as body_hash) old



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:details
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($35::text[]) and a.id <> all ($35::text[])
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

), details as materialized (select * from unnest($18::int[], $19::int[], $20::text[], $21::text[], $22::text[], $23::boolean[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::jsonb[], $31::text[], $32::text[], $33::jsonb[], $34::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  cross join (select null::text as run_id, null::bytea as body_hash) old



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:details:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($35::text[]) and a.id <> all ($35::text[])
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

), details as materialized (select * from unnest($18::int[], $19::int[], $20::text[], $21::text[], $22::text[], $23::boolean[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::jsonb[], $31::text[], $32::text[], $33::jsonb[], $34::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  cross join (select null::text as run_id, null::bytea as body_hash) old



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and (true)
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not (true) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:keys
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($18::text[]) and a.id <> all ($18::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:keys:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($18::text[]) and a.id <> all ($18::text[])
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

), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  cross join (select null::int as version, null::text as trigger_id, null::text as prompt_prefix, null::text as retry_of, null::text as key_scope, null::text as audit_id, null::text as audit_address, null::text as audit_action, null::jsonb as audit_data, null::text as error_code, null::text as error_message, null::jsonb as event_data, null::boolean as binds_key) d
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end

  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, 1
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    '{}'::jsonb as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:keys:details
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($35::text[]) and a.id <> all ($35::text[])
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

), details as materialized (select * from unnest($18::int[], $19::int[], $20::text[], $21::text[], $22::text[], $23::boolean[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::jsonb[], $31::text[], $32::text[], $33::jsonb[], $34::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  cross join (select null::text as run_id) written
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:keys:details:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    null::json as reached, null::json as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($35::text[]) and a.id <> all ($35::text[])
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

), details as materialized (select * from unnest($18::int[], $19::int[], $20::text[], $21::text[], $22::text[], $23::boolean[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::jsonb[], $31::text[], $32::text[], $33::jsonb[], $34::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'

      when c.running then 'running' else 'queued' end as status,
    old.run_id as replayed_run,
    c.reached as reached, c.paused_by,
    case
      when written.run_id is not null then 'started'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when c.paused_at is not null and not false then 'agent_paused'
      when c.is_limited then 'limited'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed'
      else 'start'
    end as check_result
  from unnest($12::text[], $13::text[], $14::int[], $15::text[], $16::bytea[], $17::text[]) with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true



  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy)))) and ((key is null or not binds_key or run_id in (select run_id from bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, null::text[] as tags
  from starting
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when not ((key is null or not binds_key or run_id in (select run_id from bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run)) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers;

-- start:triggers:keys:details:labels:callbacks:limits:firstCalls:received:files:deliveries:resent
with callers as materialized (
  -- Each look-up is a lateral subquery with a limit. It is therefore an index scan for each row,
  -- never a join over a whole table, regardless of the sizes that the tables had when the statement
  -- was planned. It names its columns, because each execution prepares all columns that a subquery
  -- returns, even those that nothing reads. Look-up values use "case", not "coalesce": with
  -- row-level security the planner uses no index for "coalesce", because it does not consider
  -- "coalesce" leakproof.
  select c.*, c.position as caller_position, a.id as agent_id, a.workspace_id, a.version,
    a.max_queued_runs, a.paused_at, a.deleted_at,
    g.id as trigger_id, g.enabled, g.receiving_version as current_version, (a.paused_at is not null or paused.reached is not null) as is_paused,
    coalesce(g.listening_until > now(), false) as is_listening,
    case when c.holds and ((a.paused_at is not null or paused.reached is not null) or reached.reached is not null) then (
      select count(*) from (
        select from runs h join run_inputs i on i.run_id = h.id and i.workspace_id = h.workspace_id
        where h.status = 'waiting' and h.workspace_id = a.workspace_id and h.agent_id = a.id
          and i.trigger_id = g.id
        limit 1000
      ) as counted) end as held, g.allows_callback, coalesce(g.prompt_prefix, '') as prompt_prefix,
    provider.stamp as provider_stamp, immediate.running, limits.is_limited,
    reached.reached, paused.reached as paused_by,
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
      when t.hash is not null and (case when c.source = 'trigger' then g.id = t.trigger_id and g.workspace_id = t.workspace_id
    and g.deleted_at is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null else t.trigger_id is null and (t.expires_at is null or t.expires_at > now()) and a.id = t.agent_id and a.workspace_id = t.workspace_id
    and a.deleted_at is null end) is not true then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as rejection
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[], $10::boolean[], $11::int[], $12::boolean[]) with ordinality as c (source, credential, agent, authenticated_as, workspace, content_type, body, has_capacity, owner, detailed, receiving_version, holds, position)
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
    from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id
    and (s.expires_at is null or s.expires_at > now()) and (k.expires_at is null or k.expires_at > now()) limit 1
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
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id limit 1
  ) g on true
  cross join lateral (
    -- A run is created running only if its owner has not been declared dead.
    select c.has_capacity and a.max_concurrent_runs is null
      and a.workspace_id <> all ($63::text[]) and a.id <> all ($63::text[])
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
  left join lateral (
    select json_build_object('scope', b.scope_kind, 'scope_id', b.scope_id,
      'metric', b.metric, 'used', b.spent, 'limit', b.allowed, 'resets_at', b.ends) as reached
    from budgets b
    where limits.is_limited and b.workspace_id = a.workspace_id
      and b.scope_id = any (array[a.workspace_id, a.id, g.id, case when k.id is not null then k.id when c.authenticated_as like 'key:%' then substr(c.authenticated_as, 5) end]) and now() < b.ends
      and b.metric in ('cost', 'tokens')
      and case when c.holds then (b.refused and b.allowed > 0 or (b.allowed is not null and b.spent >= greatest(b.allowed, 1))) else (b.allowed is not null and b.spent >= greatest(b.allowed, 1)) end
    order by b.ends desc, b.id limit 1
  ) reached on true
  left join lateral (
    select json_build_object('scope', b.scope_kind, 'scope_id', b.scope_id,
      'metric', b.metric, 'used', b.spent, 'limit', b.allowed, 'resets_at', b.ends) as reached
    from budgets b
    where limits.is_limited and b.workspace_id = a.workspace_id and b.scope_id = a.id
      and (b.scope_kind = 'agent' and b.pauses_agent and now() < b.ends
      and (b.refused or (b.allowed is not null and b.spent >= greatest(b.allowed, 1))))
    order by b.ends desc, b.id limit 1
  ) paused on true
), details as materialized (select * from unnest($26::int[], $27::int[], $28::text[], $29::text[], $30::text[], $31::boolean[], $32::text[], $33::text[], $34::text[], $35::text[], $36::text[], $37::text[], $38::jsonb[], $39::text[], $40::text[], $41::jsonb[], $42::boolean[]) with ordinality as d (request, version, trigger_id, prompt_prefix, retry_of, copies_files, key_scope, draft, draft_provider_id, audit_id, audit_address, audit_action, audit_data, error_code, error_message, event_data, binds_key, position)), checked as (
  select r.*, c.source, c.content_type, c.owner, c.agent_id, c.workspace_id, c.max_queued_runs,
    c.queued, c.principal, coalesce(d.version, c.version) as version, coalesce(d.trigger_id, c.trigger_id) as trigger_id,
    coalesce(d.prompt_prefix, c.prompt_prefix) as prompt_prefix, d.retry_of, d.audit_id, d.audit_address,
    d.audit_action, d.audit_data, d.error_code, d.error_message, d.event_data, case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end as scope, d.error_code is null or d.binds_key as binds_key,
    case when d.error_code is not null then 'failed'
      when c.holds and (c.is_paused or coalesce(c.reached, of_trigger.reached) is not null) then 'waiting'
      when c.running then 'running' else 'queued' end as status,
    case when seen.run_id is not null then seen.run_id else old.run_id end as replayed_run, received.id as request_id, received.event as sender_event, received.event_days, c.held, row_number() over (partition by case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end, r.key order by r.position) as key_turn,
    coalesce(c.reached, of_trigger.reached) as reached, c.paused_by, signer.id as callback_subscription_id,
    case
      when written.run_id is not null then 'started'
      when written_request.id is not null then 'filtered_before'
      when c.rejection is not null then c.rejection
      when c.body = 'unread' then 'body'
      when c.current_version <> c.receiving_version then 'reconfigured'
      when received.id is not null and c.is_listening and c.body = 'good' then 'listening'
      when seen.run_id is not null then 'repeated'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when c.deleted_at is not null then 'agent_deleted'
      when received.swallows and c.trigger_id is not null and not c.enabled then 'swallowed'
      when c.paused_at is not null and not c.holds then 'agent_paused'
      when c.paused_by is not null and not c.holds then 'limit_paused'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when received.is_filtered then 'filtered'
      when d.error_code is distinct from 'mapping_error' and run_input(coalesce(d.prompt_prefix, c.prompt_prefix), r.payload) = '' then 'empty'
      when r.callback_url is not null and c.source = 'trigger' and not c.allows_callback then 'callback_not_allowed'
      when r.callback_url is not null and signer.id is null then 'callback_unknown'
      when d.copies_files and not exists (select from runs o where o.id = d.retry_of and o.workspace_id = c.workspace_id) then 'original_deleted'
      when coalesce(c.reached, of_trigger.reached) is not null and d.error_code is null and not c.holds then 'limit_reached'
      else 'start'
    end as check_result
  from unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::bigint[], $19::bigint[], $20::text[], $21::text[], $22::int[], $23::text[], $24::bytea[], $25::text[]) with ordinality as r (external_id, tags, callback_url, callback_origin, call_cost_micros, call_plan_cost_micros, call_tokens, run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller_position = r.caller
  left join details d on d.request = r.position
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id
      and i.scope = case when d.key_scope is not null then d.key_scope when c.trigger_id is null then c.agent_id else c.trigger_id end and i.key = r.key limit 1
  ) old on true
  left join unnest($43::int[], $44::text[], $45::text[], $46::int[], $47::boolean[], $48::boolean[]) with ordinality as received (request, id, event, event_days, swallows, is_filtered, position) on received.request = r.position
  left join lateral (
    -- A replay is sent with the trigger in its details. If its Idempotency-Key was used before, the
    -- key decides: this call is then a repeat of an earlier one, which may have bound the event.
    select e.run_id from trigger_event_ids e where received.event is not null
      and (d.trigger_id is null or old.body_hash is null)
      and e.workspace_id = c.workspace_id and e.event_id = received.event
      and e.trigger_id = case when d.trigger_id is not null then d.trigger_id else c.trigger_id end
    limit 1
  ) seen on true
  left join lateral (
    select w.id from received_requests w where w.id = received.id
      and w.trigger_id = case when d.trigger_id is not null then d.trigger_id else c.trigger_id end
    limit 1
  ) written_request on true
  left join lateral (
    select json_build_object('scope', b.scope_kind, 'scope_id', b.scope_id,
      'metric', b.metric, 'used', b.spent, 'limit', b.allowed, 'resets_at', b.ends) as reached
    from budgets b
    where c.is_limited and b.workspace_id = c.workspace_id
      and b.scope_id = d.trigger_id and now() < b.ends
      and b.metric in ('cost', 'tokens')
      and case when c.holds then (b.refused and b.allowed > 0 or (b.allowed is not null and b.spent >= greatest(b.allowed, 1))) else (b.allowed is not null and b.spent >= greatest(b.allowed, 1)) end
    order by b.ends desc, b.id limit 1
  ) of_trigger on true
  left join lateral (
    -- If several subscriptions match, the oldest one signs the callback. Subscriptions store URLs
    -- as URL.href writes them, so origins can be compared as text.
    select s.id from subscriptions s
    where r.callback_url is not null and s.workspace_id = c.workspace_id and s.deleted_at is null
      and s.status = 'enabled' and (s.agent_ids is null or c.agent_id = any (s.agent_ids))
      and substring(s.url from '^https?://[^/?#]+') = r.callback_origin
    order by s.id limit 1
  ) signer on true
  left join lateral (
    select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1
  ) written on true
), busy as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, agent_id as owner_id, queued as earlier, max_queued_runs as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          case when sender_event is not null then min(position) over (partition by trigger_id, sender_event) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'queued'
    ) as counted
  ) as ranked where is_over
), overfull as (
  select run_id from (
    select run_id, earlier + dense_rank() over (partition by owner_id order by first_position)
      > maximum as is_over
    from (
      select run_id, trigger_id as owner_id, held as earlier, 1000 as maximum,
        least(case when key is not null then min(position) over (partition by scope, key) end,
          case when sender_event is not null then min(position) over (partition by trigger_id, sender_event) end,
          position) as first_position
      from checked where check_result = 'start' and status = 'waiting'
    ) as counted
  ) as ranked where is_over
), event_bound as (
  -- Ordered, so that two processes lock equal ids in the same order and cannot deadlock.
  insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
  select workspace_id, trigger_id, sender_event, run_id, now() + make_interval(days => event_days)
  from checked
  where check_result = 'start' and sender_event is not null and status <> 'failed'
    and (not (status = 'queued' and run_id = any (array(select run_id from busy))) and not (status = 'waiting' and run_id = any (array(select run_id from overfull))))
    and (key is null or key_turn = 1)
  order by trigger_id, sender_event, position
  on conflict do nothing
  returning run_id
), bound as (
  -- Ordered, so that two processes lock equal keys in the same order and cannot deadlock.
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, scope, key, body_hash, run_id from checked
  where check_result = 'start' and key is not null and binds_key and (not (status = 'queued' and run_id = any (array(select run_id from busy))) and not (status = 'waiting' and run_id = any (array(select run_id from overfull)))) and (sender_event is null or status = 'failed' or run_id in (select run_id from event_bound))
  order by scope, key, position
  on conflict do nothing
  returning run_id
), starting as not materialized (
  select * from checked where check_result = 'start' and (not (status = 'queued' and run_id = any (array(select run_id from busy))) and not (status = 'waiting' and run_id = any (array(select run_id from overfull)))) and ((key is null or not binds_key or run_id in (select run_id from bound)) and (sender_event is null or status = 'failed' or run_id in (select run_id from event_bound)))
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq,
    started_at, finished_at)
  select run_id, workspace_id, agent_id, status, case when status = 'running' then owner end,
    case when status = 'running' then 1 else 0 end, 1, case when status = 'running' then now() end
    , case when status = 'failed' then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload,
    prompt_prefix, content_type, principal, retry_of, engine_version, external_id, tags)
  select run_id, workspace_id, version, source, trigger_id, payload, prompt_prefix, content_type,
    principal, retry_of, case when source = 'draft' then 2 else 1 end, external_id, string_to_array(tags, e'\n')
  from starting
), first_events as not materialized (
  select run_id, 1 as seq, workspace_id, agent_id, current_transaction() as transaction,
    event_id as id, case status when 'running' then 'run.started' when 'queued' then 'run.queued'
      when 'waiting' then 'run.waiting' else 'run.failed' end as type,
    case when status = 'failed' then event_data else '{}' end as data,
    source as run_source, trigger_id, string_to_array(tags, e'\n') as tags, callback_subscription_id, callback_url
  from starting
), callbacks as (
  insert into run_callbacks (run_id, workspace_id, subscription_id, url)
  select run_id, workspace_id, callback_subscription_id, callback_url
  from starting where callback_subscription_id is not null
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from first_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then e.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from first_events e
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = e.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), failed_runs as (
  select run_id, workspace_id, null::text as output, error_code, error_message,
    event_data -> 'limit' as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from starting where status = 'failed'
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from failed_runs
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select audit_id, workspace_id, principal, audit_address, audit_action, run_id, audit_data
  from starting where audit_id is not null
), drafted as (
  insert into run_drafts (run_id, workspace_id, config, provider_id)
  select s.run_id, s.workspace_id, d.draft::jsonb, d.draft_provider_id
  from starting s join details d on d.request = s.position where d.draft is not null
), stored_requests as (
  insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, error, event_id,
    event_type, run_id, replay_of, agent_version, address, content_type, content_encoding, size,
    query, headers, body)
  select s.request_id, s.workspace_id, s.agent_id, s.trigger_id,
    case when s.check_result = 'filtered' then 'filtered' when s.status = 'waiting' then 'held'
      when s.status <> 'failed' then 'started' when s.error_code = 'mapping_error' then s.error_code
      else 'limit_reached' end,
    s.error_message, s.sender_event, b.event_type,
    case when s.check_result = 'start' then s.run_id end, b.replay_of, s.version, b.address,
    s.content_type, b.content_encoding, b.size, b.query, b.headers, b.body
  from checked s join unnest($49::int[], $50::text[], $51::text[], $52::text[], $53::text[], $54::int[], $55::text[], $56::jsonb[], $57::bytea[]) with ordinality as b (request, event_type, replay_of, address, content_encoding, size, query, headers, body, position) on b.request = s.position
  where s.check_result = 'filtered' or s.run_id in (select run_id from starting)
), stored_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, s.workspace_id, s.run_id,
    case when f.copy_of is null then f.media_type else a.media_type end,
    case when f.copy_of is null then f.content else a.content end
  from starting s join unnest($58::int[], $59::text[], $60::text[], $61::bytea[], $62::text[]) with ordinality as f (request, id, media_type, content, copy_of, position) on f.request = s.position
  left join lateral (
    select a.media_type, a.content from artifacts a
    where a.id = f.copy_of and a.workspace_id = s.workspace_id and a.run_id = s.retry_of limit 1
  ) a on true
  where case when f.copy_of is null then s.status <> 'failed' else a.content is not null end
), calling as materialized (
  select s.run_id, s.workspace_id, s.agent_id, s.principal, s.trigger_id,
    s.call_cost_micros as cost_micros, s.call_plan_cost_micros as plan_cost_micros,
    s.call_tokens as tokens, 0 as voice_ms, 0 as browser_ms, array[s.workspace_id, s.agent_id,
    case when s.principal like 'key:%' then substr(s.principal, 5) end, s.trigger_id] as scope_ids
  from starting s where s.status = 'running' and s.call_tokens is not null
), locked_budgets as materialized (
  select b.* from budgets b
  where b.workspace_id = any (array(select workspace_id from calling))
    and b.scope_id = any (array(select unnest(scope_ids) from calling))
    and b.metric in ('cost', 'tokens')
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b skip locked
), applying as materialized (
  -- A budget that is not locked fits no run.
  select b.id, b.workspace_id, b.scope_id, b.scope_kind, b.metric, l.allowed is not null as is_finite,
    coalesce(l.ends > now()
      and (l.waiter_seen_at > clock_timestamp() - interval '15 seconds')
        is not true
      and (l.allowed is null or 2 * (l.reserved + (
        select sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then a.plan_cost_micros
        else a.cost_micros end
      when 'tokens' then a.tokens
      when 'voice' then a.voice_ms
      else a.browser_ms end, 0)) from calling a where b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)
      )) <= l.allowed - l.spent), false) as fits
  from budgets b left join locked_budgets l on l.id = b.id
  where b.workspace_id = any (array(select workspace_id from calling))
    and b.scope_id = any (array(select unnest(scope_ids) from calling))
    and b.metric in ('cost', 'tokens')
), fitting as materialized (
  select a.*, h.held_in, h.is_restricted
  from calling a cross join lateral (
    select array_agg(b.id) as held_in, bool_or(b.is_finite and coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then a.plan_cost_micros
        else a.cost_micros end
      when 'tokens' then a.tokens
      when 'voice' then a.voice_ms
      else a.browser_ms end, 0) > 0) as is_restricted,
      bool_and(b.fits and (not b.is_finite or b.metric <> 'cost'
      or case b.scope_kind when 'plan' then a.plan_cost_micros else a.cost_micros end is not null
    )) as fits
    from applying b where b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)
  ) h where h.fits
), unrestricted_first_calls as (
  select run_id from fitting where not is_restricted
), reserved_in as materialized (
  select b.id as budget_id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then a.plan_cost_micros
        else a.cost_micros end
      when 'tokens' then a.tokens
      when 'voice' then a.voice_ms
      else a.browser_ms end, 0)) as amount
  from applying b join fitting a on b.id = any (a.held_in) group by b.id
), reserving_budgets as (
  update budgets b set reserved = b.reserved + r.amount
  from reserved_in r
  where b.id = r.budget_id and b.id = any (array(select budget_id from reserved_in))
), first_reservations as (
  insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state,
    cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
  select run_id, workspace_id, agent_id, principal, trigger_id, 'held', cost_micros,
    plan_cost_micros, tokens, voice_ms, browser_ms, held_in
  from fitting
  returning run_id
)
select (select json_agg(json_build_object('position', position, 'kind', case
    when check_result <> 'start' then check_result
    when status = 'queued' and run_id = any (array(select run_id from busy)) then 'agent_busy'
    when status = 'waiting' and run_id = any (array(select run_id from overfull)) then 'held_full'
    when not ((key is null or not binds_key or run_id in (select run_id from bound)) and (sender_event is null or status = 'failed' or run_id in (select run_id from event_bound))) then 'contended'
    else status
  end, 'replayed_run', replayed_run, 'limit', case when check_result = 'limit_paused' then paused_by when check_result = 'limit_reached' then reached end, 'first_call_reserved', run_id in (select run_id from first_reservations),
    'first_call_restricted', run_id not in (select run_id from unrestricted_first_calls))) from checked) as results,
  (select json_agg(json_build_object('caller', caller_position, 'workspace_id', workspace_id,
    'agent_id', agent_id, 'version', version, 'provider_stamp', provider_stamp,
    'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'limited', is_limited)) from callers
  ) as callers, (select bool_or(repeat_statement()) from checked
    where key is not null and run_id in (select run_id from event_bound)
      and run_id not in (select run_id from bound)) as repeat;

-- append
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day, exists (select from budgets b where b.workspace_id = w.id) as is_limited
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day, case when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed' when t.is_limited then 'limited' end as deferral
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)
    and w.deferral is null
  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as not materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select json_agg(position) as written, now() as time, (select json_agg(json_build_array(position, deferral)) from writes where deferral is not null) as deferred, null::json as woken from moved;

-- append:deliveries
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day, exists (select from budgets b where b.workspace_id = w.id) as is_limited
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day, case when t.is_limited then 'limited' end as deferral
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)
    and w.deferral is null
  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from new_events e
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select json_agg(position) as written, now() as time, (select json_agg(json_build_array(position, deferral)) from writes where deferral is not null) as deferred, null::json as woken from moved;

-- append:both
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day, exists (select from budgets b where b.workspace_id = w.id) as is_limited
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day, case when t.is_limited then 'limited' end as deferral
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)
    and w.deferral is null
  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from new_events e
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
), written_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from unnest($28::int[], $29::text[], $30::text[]) with ordinality as f (write, id, content, position) join moved m on m.position = f.write
)
select json_agg(position) as written, now() as time, (select json_agg(json_build_array(position, deferral)) from writes where deferral is not null) as deferred, null::json as woken from moved;

-- append:charged
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day, case when (select exists (select from subscriptions where deleted_at is null)) then 'subscribed' end as deferral
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    started_at = case when w.status is distinct from 'waiting' then r.started_at end,
    waited_ms = case when w.status = 'waiting' then 0 else r.waited_ms end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)
    and w.deferral is null
  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as not materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
  returning workspace_id, agent_id, principal, trigger_id, input_tokens, output_tokens, voice_ms,
    browser_ms, cost_micros, standard_cost_micros
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
), settled_runs as materialized (
  select s.run_id, s.workspace_id, array[s.workspace_id, s.agent_id,
    case when s.principal like 'key:%' then substr(s.principal, 5) end, s.trigger_id] as scope_ids
  from settling s
), locked_budgets as materialized (
  -- A query that locks rows returns each row as it is once it is locked, not as in the statement's
  -- snapshot.
  select b.*, b.ends <= now() as is_over from budgets b
  where b.workspace_id = any (array(select workspace_id from settled_runs))
    and b.scope_id = any (array(select unnest(scope_ids) from settled_runs))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), settled as (
  delete from reservations v using settled_runs s
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each run.
  where v.run_id = any (array[s.run_id]) and v.workspace_id = any (array[s.workspace_id])
    -- The count makes this statement lock budgets before reservations, as all other statements do,
    -- so that transactions do not deadlock.
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), charged_calls as materialized (
  select c.*, array[c.workspace_id, c.agent_id,
    case when c.principal like 'key:%' then substr(c.principal, 5) end, c.trigger_id] as scope_ids from written_entries c
), spent_in as materialized (
  -- The time of the entries is now(), when this transaction began. If another transaction has
  -- started the next period of a budget since, the entries belong to the previous period and are
  -- not added. A period that begins after the present time was started by a clock that was ahead.
  -- Entries are added to it, because the limit would not count any before it begins.
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then coalesce(c.standard_cost_micros, c.cost_micros)
        else c.cost_micros end
      when 'tokens' then c.input_tokens + c.output_tokens
      when 'voice' then c.voice_ms
      else c.browser_ms end, 0)) as amount
  from charged_calls c join locked_budgets b
    on b.workspace_id = c.workspace_id and b.scope_id = any (c.scope_ids)
    and (now() >= b.starts or clock_timestamp() < b.starts)
  group by b.id
), returned_to as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
        else v.cost_micros end
      when 'tokens' then v.tokens
      when 'voice' then v.voice_ms
      else v.browser_ms end, 0)) as amount
  from settled v join locked_budgets b on b.id = any (v.held_in) group by b.id
), charged_budgets as materialized (
  select b.*,
    case when b.is_over then (select greatest(case when p.starts <= now() then p.starts end, b.ends)
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_starts,
    case when b.is_over then (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_ends,
    case when b.is_over and b.changes_next then b.next_allowed else b.allowed end as new_allowed,
    case when b.is_over then 0 else b.spent end
      + coalesce((select s.amount from spent_in s where s.id = b.id), 0) as new_spent,
    coalesce((select r.amount from returned_to r where r.id = b.id), 0) as returned
  from locked_budgets b
), reached as materialized (
  select c.*, coalesce(c.next_ends, c.ends) as new_ends,
    case when c.is_over then 0 else c.crossed end as was_crossed,
    greatest(case when c.is_over then 0 else c.crossed end,
      case when c.new_spent = 0 then 0
      when c.new_spent >= c.new_allowed then 100
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 80 then 80
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 50 then 50
      else 0 end) as new_crossed
  from charged_budgets c
  where c.is_over or c.returned > 0 or c.new_spent > c.spent
), written_budgets as (
  update budgets b set spent = c.new_spent, reserved = greatest(0, b.reserved - c.returned),
    starts = case when c.is_over then n.starts else b.starts end,
    ends = case when c.is_over then n.ends else b.ends end,
    allowed = case when c.is_over and b.changes_next then b.next_allowed
      else b.allowed end,
    changes_next = b.changes_next and not c.is_over, refused = b.refused and not c.is_over,
    crossed = c.new_crossed
  from reached c cross join lateral (select c.next_starts as starts, c.next_ends as ends) n
  where b.id = c.id and b.id = any (array(select id from reached))
), thresholds as (
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      to_char(c.new_ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as data
  from reached c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
), written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, 1, data from thresholds
)
select json_agg(position) as written, now() as time, (select json_agg(json_build_array(position, deferral)) from writes where deferral is not null) as deferred, (select json_agg(distinct workspace_id) from charged_budgets
  where waiter_seen_at > now() - interval '15 seconds') as woken from moved;

-- append:charged:deliveries
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    started_at = case when w.status is distinct from 'waiting' then r.started_at end,
    waited_ms = case when w.status = 'waiting' then 0 else r.waited_ms end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)

  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from new_events e
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
  returning workspace_id, agent_id, principal, trigger_id, input_tokens, output_tokens, voice_ms,
    browser_ms, cost_micros, standard_cost_micros
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
), settled_runs as materialized (
  select s.run_id, s.workspace_id, array[s.workspace_id, s.agent_id,
    case when s.principal like 'key:%' then substr(s.principal, 5) end, s.trigger_id] as scope_ids
  from settling s
), locked_budgets as materialized (
  -- A query that locks rows returns each row as it is once it is locked, not as in the statement's
  -- snapshot.
  select b.*, b.ends <= now() as is_over from budgets b
  where b.workspace_id = any (array(select workspace_id from settled_runs))
    and b.scope_id = any (array(select unnest(scope_ids) from settled_runs))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), settled as (
  delete from reservations v using settled_runs s
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each run.
  where v.run_id = any (array[s.run_id]) and v.workspace_id = any (array[s.workspace_id])
    -- The count makes this statement lock budgets before reservations, as all other statements do,
    -- so that transactions do not deadlock.
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), charged_calls as materialized (
  select c.*, array[c.workspace_id, c.agent_id,
    case when c.principal like 'key:%' then substr(c.principal, 5) end, c.trigger_id] as scope_ids from written_entries c
), spent_in as materialized (
  -- The time of the entries is now(), when this transaction began. If another transaction has
  -- started the next period of a budget since, the entries belong to the previous period and are
  -- not added. A period that begins after the present time was started by a clock that was ahead.
  -- Entries are added to it, because the limit would not count any before it begins.
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then coalesce(c.standard_cost_micros, c.cost_micros)
        else c.cost_micros end
      when 'tokens' then c.input_tokens + c.output_tokens
      when 'voice' then c.voice_ms
      else c.browser_ms end, 0)) as amount
  from charged_calls c join locked_budgets b
    on b.workspace_id = c.workspace_id and b.scope_id = any (c.scope_ids)
    and (now() >= b.starts or clock_timestamp() < b.starts)
  group by b.id
), returned_to as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
        else v.cost_micros end
      when 'tokens' then v.tokens
      when 'voice' then v.voice_ms
      else v.browser_ms end, 0)) as amount
  from settled v join locked_budgets b on b.id = any (v.held_in) group by b.id
), charged_budgets as materialized (
  select b.*,
    case when b.is_over then (select greatest(case when p.starts <= now() then p.starts end, b.ends)
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_starts,
    case when b.is_over then (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_ends,
    case when b.is_over and b.changes_next then b.next_allowed else b.allowed end as new_allowed,
    case when b.is_over then 0 else b.spent end
      + coalesce((select s.amount from spent_in s where s.id = b.id), 0) as new_spent,
    coalesce((select r.amount from returned_to r where r.id = b.id), 0) as returned
  from locked_budgets b
), reached as materialized (
  select c.*, coalesce(c.next_ends, c.ends) as new_ends,
    case when c.is_over then 0 else c.crossed end as was_crossed,
    greatest(case when c.is_over then 0 else c.crossed end,
      case when c.new_spent = 0 then 0
      when c.new_spent >= c.new_allowed then 100
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 80 then 80
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 50 then 50
      else 0 end) as new_crossed
  from charged_budgets c
  where c.is_over or c.returned > 0 or c.new_spent > c.spent
), written_budgets as (
  update budgets b set spent = c.new_spent, reserved = greatest(0, b.reserved - c.returned),
    starts = case when c.is_over then n.starts else b.starts end,
    ends = case when c.is_over then n.ends else b.ends end,
    allowed = case when c.is_over and b.changes_next then b.next_allowed
      else b.allowed end,
    changes_next = b.changes_next and not c.is_over, refused = b.refused and not c.is_over,
    crossed = c.new_crossed
  from reached c cross join lateral (select c.next_starts as starts, c.next_ends as ends) n
  where b.id = c.id and b.id = any (array(select id from reached))
), thresholds as (
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      to_char(c.new_ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as data
  from reached c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
), written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, 1, data from thresholds
), workspace_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, null, null::int,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, null,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from thresholds e
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and s.trigger_ids is null and s.tags is null as is_event
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event')) as k (kind)
    on case k.kind when 'event' then s.is_event end
  where (select exists (select from subscriptions where deleted_at is null))
)
select json_agg(position) as written, now() as time, null::json as deferred, (select json_agg(distinct workspace_id) from charged_budgets
  where waiter_seen_at > now() - interval '15 seconds') as woken from moved;

-- append:charged:both
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    started_at = case when w.status is distinct from 'waiting' then r.started_at end,
    waited_ms = case when w.status = 'waiting' then 0 else r.waited_ms end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner = any (array(select p.id from processes p where p.died_at is null))
    and not (w.unless_cancelled and r.cancel_requested_at is not null)

  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from new_events e
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
  returning workspace_id, agent_id, principal, trigger_id, input_tokens, output_tokens, voice_ms,
    browser_ms, cost_micros, standard_cost_micros
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results returning run_id
), written_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from unnest($28::int[], $29::text[], $30::text[]) with ordinality as f (write, id, content, position) join moved m on m.position = f.write returning id
), settled_runs as materialized (
  select s.run_id, s.workspace_id, array[s.workspace_id, s.agent_id,
    case when s.principal like 'key:%' then substr(s.principal, 5) end, s.trigger_id] as scope_ids
  from settling s
), locked_budgets as materialized (
  -- A query that locks rows returns each row as it is once it is locked, not as in the statement's
  -- snapshot.
  select b.*, b.ends <= now() as is_over from budgets b
  where b.workspace_id = any (array(select workspace_id from settled_runs))
    and b.scope_id = any (array(select unnest(scope_ids) from settled_runs))
    and (select count(*) from written_files) >= 0
    and (select count(*) from written_results) >= 0
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), settled as (
  delete from reservations v using settled_runs s
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each run.
  where v.run_id = any (array[s.run_id]) and v.workspace_id = any (array[s.workspace_id])
    -- The count makes this statement lock budgets before reservations, as all other statements do,
    -- so that transactions do not deadlock.
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), charged_calls as materialized (
  select c.*, array[c.workspace_id, c.agent_id,
    case when c.principal like 'key:%' then substr(c.principal, 5) end, c.trigger_id] as scope_ids from written_entries c
), spent_in as materialized (
  -- The time of the entries is now(), when this transaction began. If another transaction has
  -- started the next period of a budget since, the entries belong to the previous period and are
  -- not added. A period that begins after the present time was started by a clock that was ahead.
  -- Entries are added to it, because the limit would not count any before it begins.
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then coalesce(c.standard_cost_micros, c.cost_micros)
        else c.cost_micros end
      when 'tokens' then c.input_tokens + c.output_tokens
      when 'voice' then c.voice_ms
      else c.browser_ms end, 0)) as amount
  from charged_calls c join locked_budgets b
    on b.workspace_id = c.workspace_id and b.scope_id = any (c.scope_ids)
    and (now() >= b.starts or clock_timestamp() < b.starts)
  group by b.id
), returned_to as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
        else v.cost_micros end
      when 'tokens' then v.tokens
      when 'voice' then v.voice_ms
      else v.browser_ms end, 0)) as amount
  from settled v join locked_budgets b on b.id = any (v.held_in) group by b.id
), charged_budgets as materialized (
  select b.*,
    case when b.is_over then (select greatest(case when p.starts <= now() then p.starts end, b.ends)
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_starts,
    case when b.is_over then (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_ends,
    case when b.is_over and b.changes_next then b.next_allowed else b.allowed end as new_allowed,
    case when b.is_over then 0 else b.spent end
      + coalesce((select s.amount from spent_in s where s.id = b.id), 0) as new_spent,
    coalesce((select r.amount from returned_to r where r.id = b.id), 0) as returned
  from locked_budgets b
), reached as materialized (
  select c.*, coalesce(c.next_ends, c.ends) as new_ends,
    case when c.is_over then 0 else c.crossed end as was_crossed,
    greatest(case when c.is_over then 0 else c.crossed end,
      case when c.new_spent = 0 then 0
      when c.new_spent >= c.new_allowed then 100
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 80 then 80
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 50 then 50
      else 0 end) as new_crossed
  from charged_budgets c
  where c.is_over or c.returned > 0 or c.new_spent > c.spent
), written_budgets as (
  update budgets b set spent = c.new_spent, reserved = greatest(0, b.reserved - c.returned),
    starts = case when c.is_over then n.starts else b.starts end,
    ends = case when c.is_over then n.ends else b.ends end,
    allowed = case when c.is_over and b.changes_next then b.next_allowed
      else b.allowed end,
    changes_next = b.changes_next and not c.is_over, refused = b.refused and not c.is_over,
    crossed = c.new_crossed
  from reached c cross join lateral (select c.next_starts as starts, c.next_ends as ends) n
  where b.id = c.id and b.id = any (array(select id from reached))
), thresholds as (
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      to_char(c.new_ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as data
  from reached c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
), written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, 1, data from thresholds
), workspace_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, null, null::int,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, null,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from thresholds e
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and s.trigger_ids is null and s.tags is null as is_event
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event')) as k (kind)
    on case k.kind when 'event' then s.is_event end
  where (select exists (select from subscriptions where deleted_at is null))
)
select json_agg(position) as written, now() as time, null::json as deferred, (select json_agg(distinct workspace_id) from charged_budgets
  where waiter_seen_at > now() - interval '15 seconds') as woken from moved;

-- append-for-dead
with tenants as materialized (
  select w.id, (now() at time zone w.time_zone)::date as day
  from workspaces w where w.id = any ($2::text[])
), writes as materialized (
  select w.*, t.day
  from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::boolean[]) with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, unless_cancelled, status, settles, position) left join tenants t on t.id = w.workspace_id
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status not in ('queued', 'waiting') then now() end,
    released_at = case when w.status = 'queued' then now() else r.released_at end,
    started_at = case when w.status is distinct from 'waiting' then r.started_at end,
    waited_ms = case when w.status = 'waiting' then 0 else r.waited_ms end,
    last_seq = r.last_seq + w.entries,
    last_transaction = greatest(r.last_transaction, current_transaction())
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
    and w.owner in (select p.id from processes p where p.died_at is not null)
    and not (w.unless_cancelled and r.cancel_requested_at is not null)

  returning w.position, w.settles, w.day, r.id, r.workspace_id, r.agent_id, r.attempt,
    r.last_transaction, i.source, i.principal, i.trigger_id, i.tags
), new_events as materialized (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id,
    e.type, e.data, m.source as run_source, m.trigger_id, m.tags
  from unnest($10::int[], $11::int[], $12::text[], $13::text[], $14::jsonb[]) with ordinality as e (write, seq, id, type, data, position) join moved m on m.position = e.write
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from new_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from new_events e
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or e.trigger_id = any (s.trigger_ids))
        and (s.tags is null or e.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and e.run_source <> 'draft'
), settling as (
  select position, id as run_id, workspace_id, agent_id, attempt, day, source, principal,
    trigger_id, tags
  from moved where settles
), written_entries as (
  insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
    trigger_id, tags, step, attempt, outcome, kind, provider, model, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros,
    standard_cost_micros, price_origin, estimated, transaction)
  select r.run_id, c.seq, c.number, r.workspace_id, r.day, r.agent_id, r.source, r.principal,
    r.trigger_id, r.tags, c.step, r.attempt, c.outcome, c.kind, c.provider, c.model,
    c.input_tokens, c.output_tokens, c.cached_input_tokens, c.cache_write_tokens,
    c.reasoning_tokens, c.voice_ms, c.browser_ms, c.cost_micros, c.standard_cost_micros,
    c.price_origin, c.estimated,
    -- In a subquery, the function is evaluated once and not for each row.
    (select current_transaction())
  from (select c.*, nullif(($21::bigint[])[13 * (c.position::int - 1) + 1], -9007199254740991) as write, nullif(($21::bigint[])[13 * (c.position::int - 1) + 2], -9007199254740991) as seq, nullif(($21::bigint[])[13 * (c.position::int - 1) + 3], -9007199254740991) as number, nullif(($21::bigint[])[13 * (c.position::int - 1) + 4], -9007199254740991) as step, nullif(($21::bigint[])[13 * (c.position::int - 1) + 5], -9007199254740991) as input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 6], -9007199254740991) as output_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 7], -9007199254740991) as cached_input_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 8], -9007199254740991) as cache_write_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 9], -9007199254740991) as reasoning_tokens, nullif(($21::bigint[])[13 * (c.position::int - 1) + 10], -9007199254740991) as voice_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 11], -9007199254740991) as browser_ms, nullif(($21::bigint[])[13 * (c.position::int - 1) + 12], -9007199254740991) as cost_micros, nullif(($21::bigint[])[13 * (c.position::int - 1) + 13], -9007199254740991) as standard_cost_micros from unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[]) with ordinality as c (outcome, kind, provider, model, price_origin, estimated, position)) as c join settling r on r.position = c.write
  returning workspace_id, agent_id, principal, trigger_id, input_tokens, output_tokens, voice_ms,
    browser_ms, cost_micros, standard_cost_micros
), results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.cache_write_tokens, e.reasoning_tokens,
    e.usage_estimated, e.cost_micros, e.limit_reached::jsonb as limit_reached
  from (select e.*, nullif(($27::bigint[])[7 * (e.position::int - 1) + 1], -9007199254740991) as write, nullif(($27::bigint[])[7 * (e.position::int - 1) + 2], -9007199254740991) as input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 3], -9007199254740991) as output_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 4], -9007199254740991) as cached_input_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 5], -9007199254740991) as cache_write_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 6], -9007199254740991) as reasoning_tokens, nullif(($27::bigint[])[7 * (e.position::int - 1) + 7], -9007199254740991) as cost_micros from unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::boolean[]) with ordinality as e (output, error_code, error_message, limit_reached, usage_estimated, position)) as e join moved m on m.position = e.write
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results returning run_id
), written_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from unnest($28::int[], $29::text[], $30::text[]) with ordinality as f (write, id, content, position) join moved m on m.position = f.write returning id
), settled_runs as materialized (
  select s.run_id, s.workspace_id, array[s.workspace_id, s.agent_id,
    case when s.principal like 'key:%' then substr(s.principal, 5) end, s.trigger_id] as scope_ids
  from settling s
), locked_budgets as materialized (
  -- A query that locks rows returns each row as it is once it is locked, not as in the statement's
  -- snapshot.
  select b.*, b.ends <= now() as is_over from budgets b
  where b.workspace_id = any (array(select workspace_id from settled_runs))
    and b.scope_id = any (array(select unnest(scope_ids) from settled_runs))
    and (select count(*) from written_files) >= 0
    and (select count(*) from written_results) >= 0
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), settled as (
  delete from reservations v using settled_runs s
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each run.
  where v.run_id = any (array[s.run_id]) and v.workspace_id = any (array[s.workspace_id])
    -- The count makes this statement lock budgets before reservations, as all other statements do,
    -- so that transactions do not deadlock.
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), charged_calls as materialized (
  select c.*, array[c.workspace_id, c.agent_id,
    case when c.principal like 'key:%' then substr(c.principal, 5) end, c.trigger_id] as scope_ids from written_entries c
), spent_in as materialized (
  -- The time of the entries is now(), when this transaction began. If another transaction has
  -- started the next period of a budget since, the entries belong to the previous period and are
  -- not added. A period that begins after the present time was started by a clock that was ahead.
  -- Entries are added to it, because the limit would not count any before it begins.
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then coalesce(c.standard_cost_micros, c.cost_micros)
        else c.cost_micros end
      when 'tokens' then c.input_tokens + c.output_tokens
      when 'voice' then c.voice_ms
      else c.browser_ms end, 0)) as amount
  from charged_calls c join locked_budgets b
    on b.workspace_id = c.workspace_id and b.scope_id = any (c.scope_ids)
    and (now() >= b.starts or clock_timestamp() < b.starts)
  group by b.id
), returned_to as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
        else v.cost_micros end
      when 'tokens' then v.tokens
      when 'voice' then v.voice_ms
      else v.browser_ms end, 0)) as amount
  from settled v join locked_budgets b on b.id = any (v.held_in) group by b.id
), charged_budgets as materialized (
  select b.*,
    case when b.is_over then (select greatest(case when p.starts <= now() then p.starts end, b.ends)
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_starts,
    case when b.is_over then (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as next_ends,
    case when b.is_over and b.changes_next then b.next_allowed else b.allowed end as new_allowed,
    case when b.is_over then 0 else b.spent end
      + coalesce((select s.amount from spent_in s where s.id = b.id), 0) as new_spent,
    coalesce((select r.amount from returned_to r where r.id = b.id), 0) as returned
  from locked_budgets b
), reached as materialized (
  select c.*, coalesce(c.next_ends, c.ends) as new_ends,
    case when c.is_over then 0 else c.crossed end as was_crossed,
    greatest(case when c.is_over then 0 else c.crossed end,
      case when c.new_spent = 0 then 0
      when c.new_spent >= c.new_allowed then 100
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 80 then 80
      when c.new_spent::numeric * 100 >= c.new_allowed::numeric * 50 then 50
      else 0 end) as new_crossed
  from charged_budgets c
  where c.is_over or c.returned > 0 or c.new_spent > c.spent
), written_budgets as (
  update budgets b set spent = c.new_spent, reserved = greatest(0, b.reserved - c.returned),
    starts = case when c.is_over then n.starts else b.starts end,
    ends = case when c.is_over then n.ends else b.ends end,
    allowed = case when c.is_over and b.changes_next then b.next_allowed
      else b.allowed end,
    changes_next = b.changes_next and not c.is_over, refused = b.refused and not c.is_over,
    crossed = c.new_crossed
  from reached c cross join lateral (select c.next_starts as starts, c.next_ends as ends) n
  where b.id = c.id and b.id = any (array(select id from reached))
), thresholds as (
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      to_char(c.new_ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as data
  from reached c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
), written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, 1, data from thresholds
), workspace_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, null, null::int,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, null,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from thresholds e
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and s.trigger_ids is null and s.tags is null as is_event
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event')) as k (kind)
    on case k.kind when 'event' then s.is_event end
  where (select exists (select from subscriptions where deleted_at is null))
)
select json_agg(position) as written, now() as time, null::json as deferred, (select json_agg(distinct workspace_id) from charged_budgets
  where waiter_seen_at > now() - interval '15 seconds') as woken from moved;

-- cancel
with found as materialized (
  select r.id, r.workspace_id, r.status, r.cancel_requested_at as requested_before,
    r.status in ('queued', 'waiting') as is_unexecuted,
    -- The locked row is its newest version; a subquery reads the one of the statement's snapshot.
    r.last_seq <> (select s.last_seq from runs s where s.id = r.id
      and s.workspace_id = r.workspace_id) as is_newer
  from runs r where r.id = any ($1::text[]) and r.workspace_id = $2::text
    -- Checked again with the locked row, which another process may have claimed or released.
    and ($7::text[] is null or r.status = any ($7::text[]))
  order by r.id for no key update
), ending as materialized (
  select id, workspace_id, ($3::text[])[array_position($1::text[], id)] as event_id from found
  where is_unexecuted and not is_newer
), ended as (
  update runs r set status = $8::text, finished_at = now(), cancel_requested_at = now(), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from ending s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not (
    select coalesce(string_agg(case
          when j.type = 'run.resumed' then 'r'
          when j.type = 'run.queued' and j.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by j.seq) ~ '(^|x)(qr)*q$'
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = e.id
  ) as usage_estimated
  from ended e cross join lateral (
    select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens, coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens, coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = e.id and workspace_id = e.workspace_id
  ) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, $10::text as type,
    case when s.run_id is null then $9::jsonb else $9::jsonb || jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object('input_tokens', s.input_tokens, 'output_tokens', s.output_tokens, 'cached_input_tokens', s.cached_input_tokens, 'cache_write_tokens', nullif(s.cache_write_tokens, 0), 'reasoning_tokens', nullif(s.reasoning_tokens, 0), 'estimated', nullif(s.usage_estimated, false))),
      'cost_micros', s.cost_micros) end as data
  from ended e left join spent s on s.run_id = e.id
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from last_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from last_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
), results as (
  select id as run_id, workspace_id, null::text as output, $11::text as error_code,
    $12::text as error_message, null::jsonb as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, $11::text, $12::text, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
), requested as (
  update runs r set cancel_requested_at = coalesce(r.cancel_requested_at, now())
  from found f where f.status = 'running' and r.id = any ($1::text[]) and r.id = f.id
    and r.workspace_id = f.workspace_id
  returning r.id
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select $4::text, workspace_id, $5::text, $6::text, 'run.cancel', id, '{}' from found
  where $4::text is not null and requested_before is null
    and (status = 'running' or is_unexecuted and not is_newer)
)
select f.id,
  case when e.id is not null then 'cancelled' when q.id is not null then 'requested'
    when f.is_unexecuted then 'again' else 'already_ended' end as result,
  f.requested_before is not null as requested_before
from found f left join ended e on e.id = f.id left join requested q on q.id = f.id;

-- expire-queued
with picked as (
  select id, workspace_id from runs r where status = 'queued' and greatest(coalesce(r.released_at, r.created_at), (select running_since from installation where running_since <= now())) < now() - interval '24 hours'
    and not (select coalesce(max(lease_until)
        filter (where lease_until < now() + interval '20 minutes') < now() - interval '10 minutes', false)
      from processes)
  limit 500 for no key update skip locked
), ending as (
  select id, workspace_id, ($1::text[])[row_number() over (order by id)] as event_id from picked
), ended as (
  update runs r set status = $2::text, finished_at = now(),  last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from ending s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not (
    select coalesce(string_agg(case
          when j.type = 'run.resumed' then 'r'
          when j.type = 'run.queued' and j.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by j.seq) ~ '(^|x)(qr)*q$'
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = e.id
  ) as usage_estimated
  from ended e cross join lateral (
    select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens, coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens, coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = e.id and workspace_id = e.workspace_id
  ) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, $4::text as type,
    case when s.run_id is null then $3::jsonb else $3::jsonb || jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object('input_tokens', s.input_tokens, 'output_tokens', s.output_tokens, 'cached_input_tokens', s.cached_input_tokens, 'cache_write_tokens', nullif(s.cache_write_tokens, 0), 'reasoning_tokens', nullif(s.reasoning_tokens, 0), 'estimated', nullif(s.usage_estimated, false))),
      'cost_micros', s.cost_micros) end as data
  from ended e left join spent s on s.run_id = e.id
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from last_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from last_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
), results as (
  select id as run_id, workspace_id, null::text as output, $5::text as error_code,
    $6::text as error_message, null::jsonb as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, $5::text, $6::text, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select count(*)::int as ended from ended;

-- drop-held
with picked as (
  select id, workspace_id from runs
  where status = 'waiting' and greatest(created_at, (select running_since from installation where running_since <= now())) < now() - interval '7 days'
    and not (select coalesce(max(lease_until)
        filter (where lease_until < now() + interval '20 minutes') < now() - interval '10 minutes', false)
      from processes)
  limit 500 for no key update skip locked
), ending as (
  select id, workspace_id, ($1::text[])[row_number() over (order by id)] as event_id from picked
), ended as (
  update runs r set status = $2::text, finished_at = now(),  last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from ending s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not (
    select coalesce(string_agg(case
          when j.type = 'run.resumed' then 'r'
          when j.type = 'run.queued' and j.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by j.seq) ~ '(^|x)(qr)*q$'
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = e.id
  ) as usage_estimated
  from ended e cross join lateral (
    select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens, coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens, coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = e.id and workspace_id = e.workspace_id
  ) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, $4::text as type,
    case when s.run_id is null then $3::jsonb else $3::jsonb || jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object('input_tokens', s.input_tokens, 'output_tokens', s.output_tokens, 'cached_input_tokens', s.cached_input_tokens, 'cache_write_tokens', nullif(s.cache_write_tokens, 0), 'reasoning_tokens', nullif(s.reasoning_tokens, 0), 'estimated', nullif(s.usage_estimated, false))),
      'cost_micros', s.cost_micros) end as data
  from ended e left join spent s on s.run_id = e.id
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from last_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from last_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
), results as (
  select id as run_id, workspace_id, null::text as output, $5::text as error_code,
    $6::text as error_message, null::jsonb as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, $5::text, $6::text, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select count(*)::int as ended from ended;

-- end-restored-queued
with picked as (
  select id, workspace_id from runs where status = 'queued'
  order by workspace_id, agent_id, id limit $2::bigint for no key update
), ending as (
  select id, workspace_id, ($1::text[])[row_number() over (order by id)] as event_id from picked
), ended as (
  update runs r set status = $3::text, finished_at = now(),  last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from ending s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not (
    select coalesce(string_agg(case
          when j.type = 'run.resumed' then 'r'
          when j.type = 'run.queued' and j.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by j.seq) ~ '(^|x)(qr)*q$'
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = e.id
  ) as usage_estimated
  from ended e cross join lateral (
    select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens, coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens, coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = e.id and workspace_id = e.workspace_id
  ) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, $5::text as type,
    case when s.run_id is null then $4::jsonb else $4::jsonb || jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object('input_tokens', s.input_tokens, 'output_tokens', s.output_tokens, 'cached_input_tokens', s.cached_input_tokens, 'cache_write_tokens', nullif(s.cache_write_tokens, 0), 'reasoning_tokens', nullif(s.reasoning_tokens, 0), 'estimated', nullif(s.usage_estimated, false))),
      'cost_micros', s.cost_micros) end as data
  from ended e left join spent s on s.run_id = e.id
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from last_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from last_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
), results as (
  select id as run_id, workspace_id, null::text as output, $6::text as error_code,
    $7::text as error_message, null::jsonb as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, $6::text, $7::text, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select count(*)::int as ended from ended;

-- end-restored-held
with picked as (
  select id, workspace_id from runs where status = 'waiting'
  order by workspace_id, agent_id, id limit $2::bigint for no key update
), ending as (
  select id, workspace_id, ($1::text[])[row_number() over (order by id)] as event_id from picked
), ended as (
  update runs r set status = $3::text, finished_at = now(),  last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from ending s where r.id = s.id and r.workspace_id = s.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, s.event_id
), spent as materialized (
  select e.id as run_id, u.*, u.is_estimated or not (
    select coalesce(string_agg(case
          when j.type = 'run.resumed' then 'r'
          when j.type = 'run.queued' and j.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by j.seq) ~ '(^|x)(qr)*q$'
      or (array_agg(j.type order by j.seq desc))[1] = 'run.waiting', false)
    from events j where j.run_id = e.id
  ) as usage_estimated
  from ended e cross join lateral (
    select coalesce(sum(input_tokens), 0)::bigint as input_tokens, coalesce(sum(output_tokens), 0)::bigint as output_tokens, coalesce(sum(cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens, coalesce(sum(reasoning_tokens), 0)::bigint as reasoning_tokens,
      case when count(cost_micros) = count(*) then coalesce(sum(cost_micros), 0)::bigint end
        as cost_micros,
      coalesce(bool_or(estimated), false) as is_estimated
    from usage_entries where run_id = e.id and workspace_id = e.workspace_id
  ) as u
  where e.fence > 0
), last_events as not materialized (
  select e.id as run_id, e.last_seq as seq, e.workspace_id, e.agent_id,
    e.last_transaction as transaction, e.event_id as id, $5::text as type,
    case when s.run_id is null then $4::jsonb else $4::jsonb || jsonb_build_object('usage',
      jsonb_strip_nulls(jsonb_build_object('input_tokens', s.input_tokens, 'output_tokens', s.output_tokens, 'cached_input_tokens', s.cached_input_tokens, 'cache_write_tokens', nullif(s.cache_write_tokens, 0), 'reasoning_tokens', nullif(s.reasoning_tokens, 0), 'estimated', nullif(s.usage_estimated, false))),
      'cost_micros', s.cost_micros) end as data
  from ended e left join spent s on s.run_id = e.id
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from last_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from last_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
), results as (
  select id as run_id, workspace_id, null::text as output, $6::text as error_code,
    $7::text as error_message, null::jsonb as limit_reached, 0 as input_tokens, 0 as output_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as reasoning_tokens, false as usage_estimated, 0 as cost_micros
  from ended where fence = 0
  union all
  select e.id, e.workspace_id, null, $6::text, $7::text, null, s.input_tokens, s.output_tokens,
    s.cached_input_tokens, s.cache_write_tokens, s.reasoning_tokens, s.usage_estimated,
    s.cost_micros
  from ended e join spent s on s.run_id = e.id
), written_results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens,
    output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated,
    cost_micros, limit_reached)
  select run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_estimated, cost_micros,
    limit_reached
  from results
)
select count(*)::int as ended from ended;

-- release-held
with recursive holding (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'waiting'
    order by workspace_id, agent_id limit 1)
  union all
  select following.* from holding h, lateral (
    select workspace_id, agent_id from runs
    where status = 'waiting' and (workspace_id, agent_id) > (h.workspace_id, h.agent_id)
    order by workspace_id, agent_id limit 1
  ) as following
), active as materialized (
  select a.id, a.workspace_id from holding h
  join agents a on a.id = h.agent_id and a.workspace_id = h.workspace_id
  where a.paused_at is null
  for share of a skip locked
), free as (
  select a.id, a.workspace_id,
    case when exists (select from budgets b where b.workspace_id = a.workspace_id)
      then greatest(0, case when exists (select from budgets b
        where b.workspace_id = a.workspace_id and b.scope_id in (a.workspace_id, a.id)
          and b.waiter_seen_at > now() - interval '15 seconds')
        then 1 else 20 end - (select count(*) from (
        select from runs q
        where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id
        limit 20
      ) as queued)) else 500 end as capacity
  from active a
  where not exists (select from budgets b where b.workspace_id = a.workspace_id
      and b.scope_id in (a.workspace_id, a.id) and now() < b.ends and b.metric in ('cost', 'tokens') and (b.refused and b.allowed > 0 or (b.allowed is not null and b.spent >= greatest(b.allowed, 1))))
    and not exists (select from budgets b where b.workspace_id = a.workspace_id
      and b.scope_id = a.id and (b.scope_kind = 'agent' and b.pauses_agent and now() < b.ends
      and (b.refused or (b.allowed is not null and b.spent >= greatest(b.allowed, 1)))))
), oldest as (
  select r.id from free f, lateral (
    select r.id from runs r join run_inputs i on i.run_id = r.id and i.workspace_id = r.workspace_id
    where r.status = 'waiting' and r.workspace_id = f.workspace_id and r.agent_id = f.id
      -- A later time is from before the clock was set back.
      and coalesce(r.released_at not between now() - make_interval(mins => least(greatest(r.fence - 1, 1), 10)) and now(), true)
      and not exists (select from budgets b where b.workspace_id = r.workspace_id
        and b.scope_id = i.trigger_id and now() < b.ends and b.metric in ('cost', 'tokens') and (b.refused and b.allowed > 0 or (b.allowed is not null and b.spent >= greatest(b.allowed, 1))))
    order by r.id limit f.capacity
  ) as r
  order by r.id limit 500
), picked as (
  select r.id, r.workspace_id from runs r
  where r.id in (select id from oldest) and r.status = 'waiting'
  order by r.id for no key update skip locked
), numbered as (
  select *, row_number() over (order by id) as number from picked
), released as (
  update runs r set status = 'queued', released_at = now(), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered n where r.id = n.id and r.workspace_id = n.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, n.number
), queued_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($1::text[])[number] as id, 'run.queued' as type,
    -- A run that a process began to execute was held before it called a model.
    case when fence > 0 then '{"calls_reported": true}' else '{}' end::jsonb as data
  from released
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from queued_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from queued_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select count(*)::int as released from released;

-- claim
with recursive walk (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'queued'
    order by workspace_id, agent_id limit 1)
  union all
  select following.* from walk w, lateral (
    select workspace_id, agent_id from runs
    where status = 'queued' and (workspace_id, agent_id) > (w.workspace_id,
      case when w.workspace_id = any ($8::text[]) then 'b' else w.agent_id end)
    order by workspace_id, agent_id limit 1
  ) as following
), waiting as (
  select * from walk where workspace_id <> all ($8::text[]) and agent_id <> all ($8::text[])
), free as (
  select w.*, coalesce(s.share, $7::bigint) as share
  from waiting w left join unnest($5::text[], $6::int[]) with ordinality as s (workspace_id, share, position) on s.workspace_id = w.workspace_id, lateral (
    select from agents a where a.id = w.agent_id and a.workspace_id = w.workspace_id
      and a.max_concurrent_runs is null limit 1
  ) as a
), oldest as (
  select q.id, f.workspace_id, f.agent_id, f.share,
    count(*) over (partition by f.workspace_id) as agents,
    row_number() over (partition by f.workspace_id order by random()) as turn
  from free f, lateral (
    select r.id
    from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = f.workspace_id and r.agent_id = f.agent_id
      and r.id > '' and i.engine_version <= 2 and not greatest(coalesce(r.released_at, r.created_at), (select running_since from installation where running_since <= now())) < now() - interval '24 hours'
    order by r.id limit 1
  ) as q
), max_turn as (
  select coalesce((
    select turn from oldest where turn <= share order by turn offset $2::bigint - 1 limit 1
  ), $2::bigint) as turn
), further as (
  select q.id, o.workspace_id, o.share, o.agents,
    row_number() over (partition by o.workspace_id, o.agent_id order by q.id) as agent_turn
  from oldest o, lateral (
    select r.id
    from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = o.workspace_id and r.agent_id = o.agent_id
      and r.id > o.id and i.engine_version <= 2 and not greatest(coalesce(r.released_at, r.created_at), (select running_since from installation where running_since <= now())) < now() - interval '24 hours'
    order by r.id limit greatest(0, least((select turn from max_turn), o.share) - o.agents)
  ) as q
), turns as (
  select id from (
    select id, turn, share from oldest
    union all
    select id, agents + row_number() over (partition by workspace_id order by agent_turn, random()),
      share
    from further
  ) as found where turn <= share order by turn, random() limit $2::bigint
), picked as (
  select q.id from turns t cross join lateral (
    -- If this were "=", the planner could choose the index runs_queued and read the whole queue.
    select r.id from runs r where r.id = t.id and r.status is not distinct from 'queued'
    for no key update skip locked
  ) as q
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, waited_ms = r.waited_ms + case when r.started_at < r.released_at
      then greatest(0, extract(epoch from now() - r.released_at) * 1000) else 0 end,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null )
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from turns) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- claim-limited
with picked as (
  select r.id from runs r join run_inputs i on i.run_id = r.id
  where r.status = 'queued' and r.workspace_id = $5::text and r.agent_id = $6::text
    and i.engine_version <= 2 and not greatest(coalesce(r.released_at, r.created_at), (select running_since from installation where running_since <= now())) < now() - interval '24 hours'
  order by r.id
  limit least($2::bigint, greatest(0, $7::bigint - (
    select count(*) from runs e where e.status = 'running' and e.agent_id = $6::text)))
  for no key update of r skip locked
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, waited_ms = r.waited_ms + case when r.started_at < r.released_at
      then greatest(0, extract(epoch from now() - r.released_at) * 1000) else 0 end,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null )
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from picked) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- claim-abandoned
with abandoned as (
  select r.id from processes p, lateral (
    select id from runs where status = 'running' and owner = p.id offset 0
  ) as r where p.died_at is not null
), picked as (
  select r.id, least(r.attempt + 1, ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int) as attempt,
    greatest(0, extract(epoch from now() - least(d.died_at, d.lease_until)) * 1000) as waited_ms

  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= 2 and ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int - r.attempt > 1 and r.workspace_id <> all ($5::text[])
  order by r.id limit $2::bigint for no key update of r skip locked
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null for share)
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from picked) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- claim-cancelled
with abandoned as (
  select r.id from processes p, lateral (
    select id from runs where status = 'running' and owner = p.id offset 0
  ) as r where p.died_at is not null
), picked as (
  select r.id, least(r.attempt + 1, ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int) as attempt,
    greatest(0, extract(epoch from now() - least(d.died_at, d.lease_until)) * 1000) as waited_ms

  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= 2 and d.suspects is not null and r.cancel_requested_at is not null
      and (r.cancel_requested_at > d.died_at or ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int > r.attempt)
  order by r.id limit $2::bigint for no key update of r skip locked
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null for share)
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from picked) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- claim-suspects
with abandoned as (
  select r.id from processes p, lateral (
    select id from runs where status = 'running' and owner = p.id offset 0
  ) as r where p.died_at is not null
), half as (
  select d.id as owner, greatest(1, (d.suspects + 1) / 2) as size
  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= 2 and ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int <= r.attempt and r.attempt > 1 and d.suspects <> 1
    and r.workspace_id <> all ($5::text[]) order by r.id limit 1
), picked as (
  select r.id, least(r.attempt + 1, ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int) as attempt,
    greatest(0, extract(epoch from now() - least(d.died_at, d.lease_until)) * 1000) as waited_ms

  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= 2 and ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int <= r.attempt and r.attempt > 1 and d.suspects <> 1 and r.owner = (select owner from half)
  order by r.id limit least($2::bigint, (select size from half)) for no key update of r skip locked
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null for share)
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from picked) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- claim-last-attempts
with abandoned as (
  select r.id from processes p, lateral (
    select id from runs where status = 'running' and owner = p.id offset 0
  ) as r where p.died_at is not null
), picked as (
  select r.id, least(r.attempt + 1, ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int) as attempt,
    greatest(0, extract(epoch from now() - least(d.died_at, d.lease_until)) * 1000) as waited_ms

  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= 2 and ((case when i.source = 'draft'
  then (select config from run_drafts
    where run_id = r.id and workspace_id = r.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = r.agent_id
    and v.workspace_id = r.workspace_id and v.version = i.agent_version)
  end) -> 'limits' ->> 'max_attempts')::int - r.attempt = 1 and r.workspace_id <> all ($5::text[])
  order by r.id limit $2::bigint for no key update of r skip locked
), numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1::text, fence = r.fence + 1, attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,
    started_at = coalesce(r.started_at, now()), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from numbered p where r.id = p.id
    and exists (select from processes where id = $1::text and died_at is null for share)
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    ($3::text[])[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then ($4::jsonb[])[attempt] else '{}' end as data
  from taken
), written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, 1, data from claim_events
), run_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, e.run_id, e.seq,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, case k.kind when 'callback' then c.callback_url end,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from claim_events e
  cross join lateral (
    select i.source as run_source, i.trigger_id, i.tags from run_inputs i
    where i.run_id = e.run_id and i.workspace_id = e.workspace_id limit 1
  ) i
  left join lateral (
    select c.subscription_id as callback_subscription_id, c.url as callback_url from run_callbacks c
    where c.run_id = e.run_id and c.workspace_id = e.workspace_id and e.type in ('run.finished', 'run.failed', 'run.cancelled')
    limit 1
  ) c on true
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and (s.trigger_ids is null or i.trigger_id = any (s.trigger_ids))
        and (s.tags is null or i.tags && s.tags) as is_event,
      s.id = c.callback_subscription_id and e.type in ('run.finished', 'run.failed', 'run.cancelled') as is_callback
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event'), ('callback')) as k (kind)
    on case k.kind when 'event' then s.is_event when 'callback' then s.is_callback end
  where (select exists (select from subscriptions where deleted_at is null)) and e.type in ('run.started', 'run.tool_call', 'run.finished', 'run.failed', 'run.cancelled') and i.run_source <> 'draft'
)
select (select count(*) from picked) > (select count(*) from picked) as contended,
  t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= 65536 then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input) on true order by t.id;

-- reserve-at-once
with runs_to_limit as materialized (
  select r.id as run_id, r.workspace_id, r.fence, r.agent_id, i.principal, i.trigger_id
  from unnest($1::text[], $2::text[], $3::int[]) as asked (id, owner, fence)
  cross join lateral (select * from runs r where r.id = asked.id limit 1) r
  cross join lateral (
    select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
  ) i
  where r.status = 'running' and r.owner = asked.owner and r.fence = asked.fence
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
), asking as materialized (
  select a.*, r.workspace_id, r.agent_id, r.principal, r.trigger_id, array[r.workspace_id, r.agent_id,
    case when r.principal like 'key:%' then substr(r.principal, 5) end, r.trigger_id] as scope_ids
  from (select a.*, nullif(($4::bigint[])[5 * (a.position::int - 1) + 1], -9007199254740991) as cost_micros, nullif(($4::bigint[])[5 * (a.position::int - 1) + 2], -9007199254740991) as plan_cost_micros, nullif(($4::bigint[])[5 * (a.position::int - 1) + 3], -9007199254740991) as tokens, nullif(($4::bigint[])[5 * (a.position::int - 1) + 4], -9007199254740991) as voice_ms, nullif(($4::bigint[])[5 * (a.position::int - 1) + 5], -9007199254740991) as browser_ms from unnest($1::text[], $2::text[], $3::int[]) with ordinality as a (run_id, owner, fence, position)) as a join runs_to_limit r on r.run_id = a.run_id
), locked_budgets as materialized (
  select b.* from budgets b
  where b.workspace_id = any (array(select workspace_id from asking))
    and b.scope_id = any (array(select unnest(scope_ids) from asking))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), needed as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then a.plan_cost_micros
        else a.cost_micros end
      when 'tokens' then a.tokens
      when 'voice' then a.voice_ms
      else a.browser_ms end, 0)) as amount, bool_or(b.metric = 'cost' and case
      when b.scope_kind = 'plan' then a.plan_cost_micros else a.cost_micros end is null
    ) as is_unpriced
  from locked_budgets b
  join asking a on a.workspace_id = b.workspace_id and b.scope_id = any (a.scope_ids)
  group by b.id
), outcome as materialized (
  select not exists (
    select from needed n join locked_budgets b on b.id = n.id
    where b.ends <= now()
      or b.waiter_seen_at > clock_timestamp() - interval '15 seconds'
      or b.allowed is not null and (n.is_unpriced or n.amount > b.allowed - b.spent - b.reserved)
  ) and not exists (
    -- A reservation that a run already holds must be replaced, which this statement cannot do.
    select from reservations v where v.run_id = any ($1::text[])
  ) and (select count(*) from runs_to_limit) = cardinality($1::text[]) as fits
), written_budgets as (
  update budgets b set reserved = b.reserved + n.amount
  from needed n
  where (select fits from outcome) and b.id = n.id and b.id = any (array(select id from needed))
), held as materialized (
  select a.*, applying.held_in, applying.is_restricted
  from asking a cross join lateral (
    select coalesce(array_agg(b.id), '{}') as held_in,
      coalesce(bool_or((b.allowed is not null and b.metric in ('cost', 'tokens')) and coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then a.plan_cost_micros
        else a.cost_micros end
      when 'tokens' then a.tokens
      when 'voice' then a.voice_ms
      else a.browser_ms end, 0) > 0), false) as is_restricted
    from locked_budgets b
    where b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)
  ) applying
), written_reservations as (
  insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state,
    cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
  select run_id, workspace_id, agent_id, principal, trigger_id, 'held', cost_micros,
    plan_cost_micros, tokens, voice_ms, browser_ms, held_in
  from held where (select fits from outcome) and held_in <> '{}'
)
select fits, (select json_agg(json_build_array(h.run_id, json_build_object(
      'isReserved', h.held_in <> '{}',
      'isLimited', exists (select from budgets b where b.workspace_id = h.workspace_id))))
  from held h where not h.is_restricted) as unrestricted
from outcome;

-- reserve-lock
with runs_to_limit as materialized (
  select r.id as run_id, r.workspace_id, r.fence, r.agent_id, i.principal, i.trigger_id
  from unnest($1::text[], $2::text[], $3::int[]) as asked (id, owner, fence)
  cross join lateral (select * from runs r where r.id = asked.id limit 1) r
  cross join lateral (
    select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
  ) i
  where r.status = 'running' and r.owner = asked.owner and r.fence = asked.fence
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
)
select b.id, b.workspace_id, b.scope_id, b.scope_kind, b.metric, b.reserved,
  case when b.ends > now() or not b.changes_next then b.allowed else b.next_allowed end as allowed,
  case when b.ends > now() then b.spent else 0 end as spent,
  b.refused and b.ends > now() as refused,
  case when b.ends > now() then b.ends else (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as ends
from budgets b
where b.workspace_id = any (array(select workspace_id from runs_to_limit))
  and b.scope_id = any (array(select unnest(array[r.workspace_id, r.agent_id,
    case when r.principal like 'key:%' then substr(r.principal, 5) end, r.trigger_id]) from runs_to_limit r))
order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
for no key update of b;

-- reserve-read
with runs_to_limit as materialized (
  select r.id as run_id, r.workspace_id, r.fence, r.agent_id, i.principal, i.trigger_id
  from unnest($1::text[], $2::text[], $3::int[]) as asked (id, owner, fence)
  cross join lateral (select * from runs r where r.id = asked.id limit 1) r
  cross join lateral (
    select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
  ) i
  where r.status = 'running' and r.owner = asked.owner and r.fence = asked.fence
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
)
select r.run_id, r.workspace_id, array[r.workspace_id, r.agent_id,
    case when r.principal like 'key:%' then substr(r.principal, 5) end, r.trigger_id] as scope_ids, r.fence,
  exists (select from budgets b where b.workspace_id = r.workspace_id) as is_limited, v.state, (extract(epoch from v.asked_at) * 1000000)::bigint as asked_at, v.asked,
  case when v.run_id is not null then json_build_object('cost_micros', v.cost_micros,
    'plan_cost_micros', v.plan_cost_micros, 'tokens', v.tokens, 'voice_ms', v.voice_ms,
    'browser_ms', v.browser_ms) end as held, v.held_in
from runs_to_limit r
left join lateral (
  select * from reservations v where v.run_id = r.run_id and v.workspace_id = r.workspace_id limit 1
) v on true
union all
select v.run_id, v.workspace_id, array[v.workspace_id, v.agent_id,
    case when v.principal like 'key:%' then substr(v.principal, 5) end, v.trigger_id], null, true, v.state, (extract(epoch from v.asked_at) * 1000000)::bigint as asked_at, v.asked,
  case when v.run_id is not null then json_build_object('cost_micros', v.cost_micros,
    'plan_cost_micros', v.plan_cost_micros, 'tokens', v.tokens, 'voice_ms', v.voice_ms,
    'browser_ms', v.browser_ms) end as held, v.held_in
from (select distinct workspace_id from runs_to_limit) as w
cross join lateral (
  select * from reservations v
  where v.workspace_id = w.workspace_id and v.state = 'waiting'
    and v.seen_at > clock_timestamp() - interval '15 seconds'
    and v.run_id <> all (array(select run_id from runs_to_limit))
  order by v.asked_at limit 500
) v;

-- reserve-write
with changed as materialized (
  select c.*, b.ends <= now() as is_over,
    case when b.ends <= now() then (select greatest(case when p.starts <= now() then p.starts end, b.ends)
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as starts,
    case when b.ends <= now() then (select p.ends
    from workspaces w, period_of(
      case when b.scope_kind = 'plan' then greatest(now(), b.ends + interval '27 hours')
        else now() end,
      w.time_zone, case when b.scope_kind = 'plan' then 'month' else 'day' end,
      w.plan_anchor) as p
    where w.id = b.workspace_id) end as ends
  from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::boolean[]) with ordinality as c (id, reserved, refused, has_waiter, position)
  cross join lateral (select * from budgets b where b.id = c.id limit 1) b
), written_budgets as (
  update budgets b set reserved = c.reserved, starts = case when c.is_over then c.starts else b.starts end,
    ends = case when c.is_over then c.ends else b.ends end,
    allowed = case when c.is_over and b.changes_next then b.next_allowed
      else b.allowed end,
    changes_next = b.changes_next and not c.is_over,
    refused = (b.refused and not c.is_over) or c.refused,
    waiter_seen_at = case when c.has_waiter then clock_timestamp() else b.waiter_seen_at end,
    spent = case when c.is_over then 0 else b.spent end,
    crossed = case when c.is_over then 0 else b.crossed end
  from changed c where b.id = c.id and b.id = any (array(select id from changed))
)
insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state, asked,
  cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
select v.run_id, r.workspace_id, r.agent_id, i.principal, i.trigger_id, v.state, v.asked::jsonb,
  v.cost_micros, v.plan_cost_micros, v.tokens, v.voice_ms, v.browser_ms, v.held_in::bigint[]
from unnest($5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[]) with ordinality as v (run_id, state, cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in, asked, position)
cross join lateral (select * from runs r where r.id = v.run_id limit 1) r
cross join lateral (
  select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
) i
on conflict (run_id, workspace_id) do update set state = excluded.state, asked = excluded.asked,
  seen_at = clock_timestamp(), cost_micros = excluded.cost_micros,
  plan_cost_micros = excluded.plan_cost_micros, tokens = excluded.tokens,
  voice_ms = excluded.voice_ms, browser_ms = excluded.browser_ms, held_in = excluded.held_in;

-- write-wait-record
with owned as materialized (
  select r.id, r.workspace_id, r.agent_id from runs r
  where r.id = $1::text
    and r.workspace_id = $2::text
    and r.status = 'running' and r.owner = $3::text
    and r.fence = $4::int
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
  for share
)
insert into reservations as v (run_id, workspace_id, agent_id, principal, trigger_id, state, asked,
  cost_micros, plan_cost_micros)
select o.id, o.workspace_id, o.agent_id, i.principal, i.trigger_id, 'held', '{"provider": true}',
  0, 0
from owned o join run_inputs i on i.run_id = o.id and i.workspace_id = o.workspace_id
on conflict (run_id, workspace_id) do update set asked = excluded.asked,
  seen_at = clock_timestamp() where v.state = 'held';

-- remove-wait-record
with owned as materialized (
  select r.id, r.workspace_id, r.agent_id from runs r
  where r.id = $1::text
    and r.workspace_id = $2::text
    and r.status = 'running' and r.owner = $3::text
    and r.fence = $4::int
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
  for share
), deleted as (
  delete from reservations v where v.run_id = any (array(select id from owned))
    and v.workspace_id = any (array(select workspace_id from owned)) and (v.state = 'held' and v.asked ? 'provider') and v.held_in = '{}'
)
update reservations v set asked = null, seen_at = clock_timestamp()
where v.run_id = any (array(select id from owned))
    and v.workspace_id = any (array(select workspace_id from owned)) and (v.state = 'held' and v.asked ? 'provider') and v.held_in <> '{}';

-- reserve-reached
with reached as materialized (
  select b.*, b.crossed as was_crossed, 100 as new_crossed, b.spent as new_spent,
    b.allowed as new_allowed, b.ends as new_ends
  from budgets b where b.id = any ($1::bigint[]) and b.crossed < 100
), written_budgets as (
  update budgets b set crossed = 100 from reached r
  where b.id = r.id and b.id = any (array(select id from reached))
), thresholds as (
  select c.workspace_id, case when c.scope_kind = 'agent' then c.scope_id end as agent_id,
    new_id('evt') as id, 'usage.threshold' as type,
    jsonb_build_object('scope', c.scope_kind, 'scope_id', c.scope_id, 'metric', c.metric,
      'percent', t.percent, 'used', c.new_spent, 'limit', c.new_allowed, 'resets_at',
      to_char(c.new_ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as data
  from reached c join (values (50), (80), (100)) as t (percent)
    on t.percent > c.was_crossed and t.percent <= c.new_crossed
), written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, 1, data from thresholds
), workspace_deliveries as (
  insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, agent_id, run_id,
    seq, data, callback_url, status, next_at, finished_at)
  select 'dlv_' || substr(e.id, 5, 10) || lpad(to_hex(hashtextextended(e.id || s.id || k.kind, 0)), 16, '0'),
    e.workspace_id, s.id, k.kind, e.id, e.type, 1, e.agent_id, null, null::int,
    case when s.status = 'enabled' and s.payload = 'full' then e.data end, null,
    case when s.status = 'enabled' then 'pending' else 'not_sent' end,
    case when s.status = 'enabled' then now() end,
    case when s.status <> 'enabled' then now() end
  from thresholds e
  cross join lateral (
    select s.id, s.status, s.payload,
      e.type = any (s.event_types)
        and (s.agent_ids is null or e.agent_id = any (s.agent_ids))
        and s.trigger_ids is null and s.tags is null as is_event
    from subscriptions s
    where s.workspace_id = e.workspace_id and s.deleted_at is null limit 1000
  ) s join (values ('event')) as k (kind)
    on case k.kind when 'event' then s.is_event end
  where (select exists (select from subscriptions where deleted_at is null))
)
select;

-- return-reservations
with stale as materialized (
  select v.* from reservations v
  left join lateral (
    select * from runs r where r.id = v.run_id and r.workspace_id = v.workspace_id limit 1
  ) r on true
  where r.id is null or r.finished_at is not null
    -- A stopping process has released the run, and the journal reports all calls: the next claim
    -- will find so too.
    or (r.status = 'queued' and v.state = 'held' and (
      select string_agg(case
          when e.type = 'run.resumed' then 'r'
          when e.type = 'run.queued' and e.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by e.seq)
      from events e where e.run_id = r.id
    ) ~ '(^|x)(qr)*q$')
  order by v.run_id limit 500
), locked_budgets as materialized (
  select b.* from budgets b where b.id = any (array(select unnest(held_in) from stale))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), gone as (
  delete from reservations v using stale s
  where v.run_id = s.run_id and v.workspace_id = s.workspace_id
    and v.run_id = any (array(select run_id from stale))
    -- A queued run can be claimed and reserve again before this statement locks its row.
    and v.seen_at = s.seen_at
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), returned as materialized (
  select b.id, sum(coalesce(case b.metric
      when 'cost' then case when b.scope_kind = 'plan' then v.plan_cost_micros
        else v.cost_micros end
      when 'tokens' then v.tokens
      when 'voice' then v.voice_ms
      else v.browser_ms end, 0)) as amount
  from locked_budgets b join gone v on b.id = any (v.held_in) group by b.id
), written_budgets as (
  update budgets b set reserved = greatest(0, b.reserved - r.amount)
  from returned r where b.id = r.id and b.id = any (array(select id from returned))
)
select json_agg(distinct workspace_id) as workspaces from gone;
