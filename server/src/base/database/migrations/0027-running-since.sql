-- When Beckon was started after a time without any process; null if that has not happened yet. Runs
-- that waited in the queue meanwhile expire by the time since then.
alter table installation add column running_since timestamptz;
