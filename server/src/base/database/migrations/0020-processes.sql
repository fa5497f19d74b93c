-- Whether the process executes queued runs: not with the role api, and not while it stops. See
-- docs/decisions/0006-drain.md. Processes of earlier versions do not set it and count as executing.
alter table processes add column accepts_runs boolean not null default true;

-- Length of the lease. `lease_until` is at most this far ahead. null: a process of an earlier version.
alter table processes add column lease_seconds double precision;
