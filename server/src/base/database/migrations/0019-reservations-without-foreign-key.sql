-- Like `runs`, whose rows they accompany, reservations have no foreign key: the statements that
-- insert them have found the workspace, and workspaces are never deleted. For each new row,
-- PostgreSQL would read and lock the row of the workspace, which all starts of a workspace share.
alter table reservations drop constraint reservations_workspace_id_fkey;
