-- Anyone who has a trigger's URL can create rows without a body. This index leaves them out, so that
-- finding the newest stored bodies does not read them.
create index received_requests_stored on received_requests (trigger_id, id) where body is not null;
