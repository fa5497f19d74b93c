-- Events of many runs in one order, for those who follow a whole workspace.
--
-- That order is the order of the transactions that wrote them, since it alone tells what can still come: below the oldest transaction under way
-- nothing is missing and nothing will be added, so a reader who stays below it never steps over an event. Sequence numbers and times do
-- not tell that.

-- This transaction's number, which never comes again in this database.
create function current_transaction() returns bigint language sql stable parallel safe return pg_current_xact_id()::text::bigint;

-- Never falls within a run. A transaction may take its number, wait for a run's row, and write after one with a higher number: it then
-- puts its event under the higher one, which it finds here. That is later than its own number, and so no less safe to read up to.
alter table runs add column last_transaction bigint not null default current_transaction();
alter table events add column transaction bigint not null default current_transaction();
-- What is there already comes before all that is to come, run by run.
update events e set transaction = o.place from (select run_id, seq, row_number() over (order by run_id, seq) - count(*) over () - 1 as place from events) as o
  where e.run_id = o.run_id and e.seq = o.seq;
create index events_stream on events (workspace_id, transaction);

-- Which history of a database these numbers belong to, as far as the server says: a cluster, and its timeline, which a restore or a
-- promoted standby leaves. With another one comes another generation.
alter table installation add column history text;
