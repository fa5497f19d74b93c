-- To find the entries of a rare action. Anyone who knows an e-mail can add entries of the action
-- `session.refuse`, by failed sign-ins.
create index audit_by_action on audit (workspace_id, action, id);
