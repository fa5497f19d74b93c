-- A run on its last attempt ends only if it was alone when its process died:
-- see docs/decisions/0015-last-attempts-in-halves.md.

-- Runs on their last attempt that the process executed when its death was recorded.
-- null: alive, or not counted yet.
alter table processes add column suspects int;

-- Milliseconds between the recorded deaths of the run's owners and the claims that followed:
-- not part of its time limit.
alter table runs add column waited_ms bigint not null default 0;
