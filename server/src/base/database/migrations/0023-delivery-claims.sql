-- Claims of a delivery since the last outcome was recorded: more than 1 if a process exited before it
-- recorded an outcome. Together with `attempts` it identifies a claim after the delivery was ended.
alter table deliveries add column claims int not null default 0;

-- Time before which no event is sent, because the receiver requested a delay with Retry-After.
alter table subscriptions add column not_before timestamptz;
