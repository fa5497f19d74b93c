import { readFile } from "node:fs/promises";
import type { SelectType } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { describeSchema } from "../../../test/describe-schema.ts";
import type { Tables } from "./tables.ts";

const { database } = await testDatabase();

test("schema.sql is the schema after all migrations", async () => {
  const written = await readFile(new URL("./schema.sql", import.meta.url), "utf8");
  expect(await describeSchema(database.engine), "run: node script/schema.ts").toBe(written);
});

/**
 * Nullability of each column in tables.ts. The list does not compile if a column is missing,
 * unknown or wrong.
 */
type Described = {
  [Table in keyof Tables]: {
    [Column in keyof Tables[Table]]: null extends SelectType<Tables[Table][Column]>
      ? "null"
      : "not null";
  };
};
const described: Described = {
  accounts: {
    id: "not null",
    user_id: "not null",
    account_id: "not null",
    method: "not null",
    password: "null",
    access_token: "null",
    refresh_token: "null",
    id_token: "null",
    access_token_expires_at: "null",
    refresh_token_expires_at: "null",
    scope: "null",
    created_at: "not null",
    updated_at: "not null",
  },
  agent_secrets: {
    id: "not null",
    workspace_id: "not null",
    agent_id: "not null",
    origins: "not null",
    sealed: "not null",
    last4: "not null",
    created_at: "not null",
    updated_at: "not null",
  },
  agent_versions: {
    agent_id: "not null",
    workspace_id: "not null",
    version: "not null",
    config: "not null",
    provider_id: "null",
    created_at: "not null",
    created_by: "not null",
  },
  agents: {
    id: "not null",
    workspace_id: "not null",
    version: "not null",
    name: "not null",
    max_concurrent_runs: "null",
    max_queued_runs: "not null",
    paused_at: "null",
    pause_reason: "null",
    created_at: "not null",
    updated_at: "not null",
    deleted_at: "null",
  },
  artifacts: {
    id: "not null",
    workspace_id: "not null",
    run_id: "not null",
    media_type: "not null",
    content: "not null",
    created_at: "not null",
  },
  audit: {
    id: "not null",
    workspace_id: "not null",
    time: "not null",
    actor: "not null",
    address: "null",
    action: "not null",
    target: "not null",
    data: "not null",
  },
  events: {
    run_id: "not null",
    seq: "not null",
    workspace_id: "not null",
    transaction: "not null",
    id: "not null",
    type: "not null",
    version: "not null",
    time: "not null",
    data: "not null",
  },
  idempotency: {
    workspace_id: "not null",
    scope: "not null",
    key: "not null",
    body_hash: "not null",
    run_id: "null",
    answer: "null",
    created_at: "not null",
  },
  invitations: {
    id: "not null",
    workspace_id: "not null",
    email: "not null",
    role: "not null",
    hash: "not null",
    created_by: "not null",
    created_at: "not null",
    expires_at: "not null",
  },
  key_secrets: {
    hash: "not null",
    workspace_id: "not null",
    key_id: "not null",
    created_at: "not null",
    expires_at: "null",
  },
  keys: {
    id: "not null",
    workspace_id: "not null",
    name: "not null",
    scopes: "not null",
    agent_ids: "null",
    bootstrap: "not null",
    created_by: "not null",
    created_at: "not null",
    updated_at: "not null",
    expires_at: "null",
    last_used_at: "null",
  },
  members: {
    user_id: "not null",
    workspace_id: "not null",
    role: "not null",
    created_at: "not null",
    updated_at: "not null",
  },
  password_resets: {
    user_id: "not null",
    hash: "not null",
    created_at: "not null",
    expires_at: "not null",
    created_by: "not null",
    created_in: "not null",
  },
  providers: {
    id: "not null",
    workspace_id: "not null",
    name: "not null",
    kind: "not null",
    base_url: "null",
    api_key_sealed: "null",
    api_key_last4: "null",
    api_key_url: "null",
    created_at: "not null",
    updated_at: "not null",
    deleted_at: "null",
  },
  run_inputs: {
    run_id: "not null",
    workspace_id: "not null",
    agent_version: "not null",
    source: "not null",
    trigger_id: "null",
    payload: "not null",
    prompt_prefix: "not null",
    content_type: "null",
    principal: "not null",
    conversation_id: "null",
    parent_run_id: "null",
    root_run_id: "null",
    depth: "not null",
    retry_of: "null",
    engine_version: "not null",
    external_id: "null",
    tags: "null",
  },
  run_drafts: {
    run_id: "not null",
    workspace_id: "not null",
    config: "not null",
    provider_id: "null",
  },
  run_results: {
    run_id: "not null",
    workspace_id: "not null",
    output: "null",
    error_code: "null",
    error_message: "null",
    input_tokens: "not null",
    output_tokens: "not null",
    cached_input_tokens: "not null",
    cache_write_tokens: "not null",
    reasoning_tokens: "not null",
    usage_estimated: "not null",
    cost_micros: "null",
  },
  runs: {
    id: "not null",
    workspace_id: "not null",
    agent_id: "not null",
    status: "not null",
    owner: "null",
    fence: "not null",
    attempt: "not null",
    waited_ms: "not null",
    last_seq: "not null",
    last_transaction: "not null",
    cancel_requested_at: "null",
    created_at: "not null",
    started_at: "null",
    finished_at: "null",
  },
  sessions: {
    id: "not null",
    user_id: "not null",
    token: "not null",
    expires_at: "not null",
    ip_address: "null",
    user_agent: "null",
    created_at: "not null",
    updated_at: "not null",
  },
  tokens: {
    hash: "not null",
    workspace_id: "not null",
    agent_id: "not null",
    trigger_id: "null",
    sealed: "not null",
    created_at: "not null",
    expires_at: "null",
  },
  triggers: {
    id: "not null",
    workspace_id: "not null",
    agent_id: "not null",
    name: "not null",
    prompt_prefix: "not null",
    enabled: "not null",
    created_at: "not null",
    updated_at: "not null",
    deleted_at: "null",
  },
  usage_days: {
    id: "not null",
    workspace_id: "not null",
    day: "not null",
    agent_id: "not null",
    provider: "not null",
    model: "not null",
    principal: "not null",
    trigger_id: "null",
    kind: "not null",
    entries: "not null",
    input_tokens: "not null",
    output_tokens: "not null",
    cached_input_tokens: "not null",
    cache_write_tokens: "not null",
    reasoning_tokens: "not null",
    voice_ms: "not null",
    browser_ms: "not null",
    cost_micros: "not null",
    unknown_cost_entries: "not null",
    standard_cost_micros: "not null",
    unknown_standard_cost_entries: "not null",
    estimated_entries: "not null",
  },
  usage_entries: {
    run_id: "not null",
    seq: "not null",
    number: "not null",
    workspace_id: "not null",
    time: "not null",
    day: "not null",
    agent_id: "not null",
    source: "not null",
    principal: "not null",
    trigger_id: "null",
    tags: "null",
    step: "not null",
    attempt: "not null",
    outcome: "not null",
    kind: "not null",
    provider: "not null",
    model: "not null",
    input_tokens: "not null",
    output_tokens: "not null",
    cached_input_tokens: "not null",
    cache_write_tokens: "not null",
    reasoning_tokens: "not null",
    voice_ms: "not null",
    browser_ms: "not null",
    cost_micros: "null",
    standard_cost_micros: "null",
    price_origin: "null",
    estimated: "not null",
    transaction: "not null",
  },
  usage_rollups: {
    workspace_id: "not null",
    up_to: "not null",
    merged_before: "not null",
  },
  users: {
    id: "not null",
    name: "not null",
    email: "not null",
    email_verified: "not null",
    image: "null",
    created_at: "not null",
    updated_at: "not null",
  },
  workspace_events: {
    number: "not null",
    id: "not null",
    workspace_id: "not null",
    agent_id: "null",
    transaction: "not null",
    type: "not null",
    version: "not null",
    time: "not null",
    data: "not null",
  },
  workspaces: {
    id: "not null",
    name: "not null",
    created_at: "not null",
    time_zone: "not null",
    updated_at: "not null",
  },
};

/**
 * Tables without a type in tables.ts: they are used by single statements, or not by Beckon's code.
 */
const untyped = ["installation", "migrations", "processes", "verifications"];

test("tables.ts has the same tables, columns and nullability as the catalog", async () => {
  const { rows } = await database.engine.query<{
    table: string;
    column: string;
    null: "null" | "not null";
  }>(
    `select c.relname as table, a.attname as column, case when a.attnotnull then 'not null' else 'null' end as null
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and c.relname <> all ($1)`,
    [untyped],
  );
  const catalog: Record<string, Record<string, string>> = {};
  for (const row of rows) catalog[row.table] = { ...catalog[row.table], [row.column]: row.null };
  expect(catalog).toEqual(described);
});
