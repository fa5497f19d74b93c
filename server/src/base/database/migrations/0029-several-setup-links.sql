-- SHA-256 of the tokens that make the first owner and that starts before the last one made, newest
-- first: at most nine, beside the last one in setup_hash. Several machines start at the same time, and
-- each prints a link. Processes of earlier versions know only setup_hash.
alter table installation add column earlier_setup_hashes bytea[] not null default '{}';
