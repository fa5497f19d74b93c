-- To find other requests with the event of a run that is deleted: attempts that were rejected, for
-- example because the queue was full. Their content is deleted with the run.
create index received_requests_without_run on received_requests (trigger_id, event_id)
  where run_id is null and event_id is not null and body is not null;
