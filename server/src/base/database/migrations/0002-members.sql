-- People: who they are, how they sign in, and what they are in which workspace.
--
-- users, sessions, accounts and verifications are better-auth's, with its columns under our names; a person belongs to no workspace. Members
-- and invitations are tenant tables like all others.

create table users (
  id text primary key,
  name text not null,
  -- In lower case, so that it is one person's whatever the case in which it is typed.
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- A sign-in that stands. Its cookie holds the token and a signature made with a key derived from the master key, which is not in this
-- database: who can read this table cannot make a cookie.
create table sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_by_user on sessions (user_id, id);

-- Ways to prove who one is: method `credential` is the password, hashed with scrypt.
create table accounts (
  id text primary key,
  user_id text not null references users on delete cascade,
  account_id text not null,
  method text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (method, account_id)
);
create index accounts_by_user on accounts (user_id);

create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_by_identifier on verifications (identifier);

-- A link by which a person sets a new password, once. A new one takes the place of the one before.
create table password_resets (
  user_id text primary key references users on delete cascade,
  -- SHA-256 of the token.
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create table members (
  user_id text not null references users,
  workspace_id text not null references workspaces,
  role text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, workspace_id)
);
create index members_list on members (workspace_id, user_id);

-- Open invitations; one that was accepted is gone.
create table invitations (
  id text not null,
  workspace_id text not null references workspaces,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'editor', 'viewer')),
  -- SHA-256 of the token.
  hash bytea not null unique,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (id, workspace_id)
);
create index invitations_list on invitations (workspace_id, id);

alter table workspaces
  add column time_zone text not null default 'UTC',
  add column updated_at timestamptz not null default now();

-- SHA-256 of the token that makes the first owner; each start makes a new one until there is an owner.
alter table installation add column setup_hash bytea;

do $$
declare tenant_table text;
begin
  foreach tenant_table in array array['members', 'invitations']
  loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format($policy$create policy tenant on %I using (current_setting('beckon.workspace', true) in ('*', workspace_id))$policy$, tenant_table);
  end loop;
end $$;

-- A workspace sees its own members' names, and nobody's credentials.
alter table users enable row level security;
alter table users force row level security;
create policy members on users using (
  current_setting('beckon.workspace', true) = '*'
  or exists (select from members m where m.user_id = users.id and m.workspace_id = current_setting('beckon.workspace', true))
);
do $$
declare private_table text;
begin
  foreach private_table in array array['sessions', 'accounts', 'verifications', 'password_resets']
  loop
    execute format('alter table %I enable row level security', private_table);
    execute format('alter table %I force row level security', private_table);
    execute format($policy$create policy nobody on %I using (current_setting('beckon.workspace', true) = '*')$policy$, private_table);
  end loop;
end $$;
