-- Time of the last change of the time zone; null if it was never changed. Entries of the usage ledger
-- keep the dates that they had before.
alter table workspaces add column time_zone_changed_at timestamptz;
-- Which of their changes was the last one of the time zone is not known.
update workspaces set time_zone_changed_at = updated_at;
