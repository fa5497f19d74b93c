-- Callbacks and tests are claimed apart from events, so that they do not delay events.
drop index deliveries_due;
create index deliveries_due on deliveries (subscription_id, kind, next_at)
  where status = 'pending';

-- To count what failed in the last 24 hours, and what a subscription has missed since it was paused
-- or disabled.
drop index deliveries_failed;
create index deliveries_ended on deliveries (subscription_id, status, finished_at)
  where status in ('failed', 'not_sent');
