-- To find whether a replay of a request has started a run. A bulk replay leaves such a request out.
create index received_requests_replays on received_requests (trigger_id, replay_of)
  where replay_of is not null;
