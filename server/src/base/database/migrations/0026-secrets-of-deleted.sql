-- Deleted triggers cannot be restored, so they need no secrets. They are now deleted with the trigger.
update triggers set sender_secret = null, previous_sender_secret = null,
  previous_sender_secret_until = null, verify_token = null
where deleted_at is not null
  and coalesce(sender_secret, previous_sender_secret, verify_token) is not null;

-- Finds the agents that can no longer be restored, whose secrets are deleted.
create index agents_deleted on agents (deleted_at, id) where deleted_at is not null;
