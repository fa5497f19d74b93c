-- What the calls of models cost, as far as a workspace sets it. See docs/money.md.

-- A price of a model of one of the workspace's own providers, in micro-dollars for 1,000,000 tokens.
-- It takes precedence over the price in the operator's file and in the price library.
create table prices (
  id text not null,
  workspace_id text not null,
  provider_id text not null,
  -- The part of the model's name after the slash.
  model text not null,
  input_micros_per_million int not null check (input_micros_per_million >= 0),
  output_micros_per_million int not null check (output_micros_per_million >= 0),
  -- null: the price of input.
  cached_input_micros_per_million int check (cached_input_micros_per_million >= 0),
  cache_write_micros_per_million int check (cache_write_micros_per_million >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (id, workspace_id),
  foreign key (workspace_id, provider_id) references providers (workspace_id, id)
);
create unique index prices_model on prices (workspace_id, provider_id, model);

alter table prices enable row level security;
alter table prices force row level security;
create policy tenant on prices using (current_setting('beckon.workspace', true) in ('*', workspace_id));

-- Whether calls of the provider cost nothing.
alter table providers add column free boolean not null default false;
