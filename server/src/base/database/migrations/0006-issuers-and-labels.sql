-- Links say who issued them, and an e-mail is a label.

-- A link to set a new password is worth what its issuer can do when it is used. Nobody knows who
-- issued those that are open now; they live for a day at most.
delete from password_resets;
alter table password_resets
  -- The issuer, as in the audit: `user:…` or `key:…`.
  add column created_by text not null,
  -- The workspace in which it was issued.
  add column created_in text not null references workspaces;

-- Nothing proves an e-mail, so several accounts can carry the same one. Among the members of one
-- workspace it is unique: whoever joins checks that, one after the other.
alter table users drop constraint users_email_key;
create index users_by_email on users (email, id);
