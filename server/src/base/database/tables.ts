import type {
  AgentConfig,
  DeliveryFormat,
  DeliveryKind,
  DeliveryStatus,
  DisabledReason,
  PayloadStyle,
  Receiving,
  RequestOutcome,
  Role,
  RunSource,
  SubscriptionStatus,
} from "@beckon/contract";
import type { ColumnType, Generated, JSONColumnType } from "kysely";

/**
 * Row types of the tables, for the stores. The files in `migrations/` define the schema, and
 * `schema.db.test.ts` compares it with these types. This file is long because it has every column
 * of every table.
 */

type Time = ColumnType<Date, Date | undefined, Date>;
type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

interface Workspaces {
  id: string;
  name: string;
  created_at: Time;
  time_zone: Generated<string>;
  updated_at: Time;
  plan: string | null;
  next_plan: string | null;
  plan_anchor: Generated<number>;
  run_retention_days: number | null;
  time_zone_changed_at: Date | null;
}

interface Users {
  id: string;
  name: string;
  email: string;
  /** Required by better-auth. Not used, because addresses are not verified. */
  email_verified: Generated<boolean>;
  /** Required by better-auth. Always null. */
  image: string | null;
  created_at: Time;
  updated_at: Time;
}

interface Sessions {
  id: string;
  user_id: string;
  token: string;
  expires_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Time;
  updated_at: Time;
}

interface Accounts {
  id: string;
  user_id: string;
  account_id: string;
  method: string;
  password: string | null;
  // The columns from here to `scope` are required by better-auth for sign-in with other services.
  // They are always null.
  access_token: string | null;
  refresh_token: string | null;
  id_token: string | null;
  access_token_expires_at: OptionalTime;
  refresh_token_expires_at: OptionalTime;
  scope: string | null;
  created_at: Time;
  updated_at: Time;
}

interface PasswordResets {
  user_id: string;
  hash: Buffer;
  created_at: Time;
  expires_at: Date;
  created_by: string;
  created_in: string;
}

interface Members {
  user_id: string;
  workspace_id: string;
  role: Role;
  created_at: Time;
  updated_at: Time;
}

interface Invitations {
  id: string;
  workspace_id: string;
  email: string;
  role: Role;
  hash: Buffer;
  created_by: string;
  created_at: Time;
  expires_at: Date;
}

interface Providers {
  id: string;
  workspace_id: string;
  name: string;
  kind: string;
  base_url: string | null;
  api_key_sealed: string | null;
  api_key_last4: string | null;
  /**
   * URL that the stored key was entered for; the key is sent only to the origin of this URL. Null
   * if no key is stored, or if a process of an earlier version stored the key during an upgrade.
   */
  api_key_url: string | null;
  free: Generated<boolean>;
  created_at: Time;
  updated_at: Time;
  deleted_at: OptionalTime;
}

interface Prices {
  id: string;
  workspace_id: string;
  provider_id: string;
  model: string;
  input_micros_per_million: number;
  output_micros_per_million: number;
  cached_input_micros_per_million: number | null;
  cache_write_micros_per_million: number | null;
  created_at: Time;
  updated_at: Time;
}

interface Agents {
  id: string;
  workspace_id: string;
  version: number;
  name: string;
  max_concurrent_runs: number | null;
  max_queued_runs: number;
  paused_at: OptionalTime;
  pause_reason: string | null;
  created_at: Time;
  updated_at: Time;
  deleted_at: OptionalTime;
}

interface AgentVersions {
  agent_id: string;
  workspace_id: string;
  version: number;
  config: JSONColumnType<AgentConfig, string, string>;
  provider_id: string | null;
  created_at: Time;
  created_by: string;
}

interface AgentSecrets {
  id: string;
  workspace_id: string;
  agent_id: string;
  origins: string[];
  sealed: string;
  last4: string;
  created_at: Time;
  updated_at: Time;
}

interface Tokens {
  hash: Buffer;
  workspace_id: string;
  agent_id: string;
  trigger_id: string | null;
  sealed: string;
  created_at: Time;
  expires_at: OptionalTime;
}

interface Keys {
  id: string;
  workspace_id: string;
  name: string;
  scopes: string[];
  agent_ids: string[] | null;
  bootstrap: Generated<boolean>;
  created_by: string;
  created_at: Time;
  updated_at: Time;
  expires_at: OptionalTime;
  last_used_at: OptionalTime;
}

interface KeySecrets {
  hash: Buffer;
  workspace_id: string;
  key_id: string;
  created_at: Time;
  expires_at: OptionalTime;
}

interface Triggers {
  id: string;
  workspace_id: string;
  agent_id: string;
  name: string;
  prompt_prefix: string;
  enabled: boolean;
  created_at: Time;
  updated_at: Time;
  deleted_at: OptionalTime;
  allows_callback: Generated<boolean>;
  receiving: JSONColumnType<Receiving, string | null, string | null> | null;
  receiving_version: Generated<number>;
  sender_secret: string | null;
  previous_sender_secret: string | null;
  previous_sender_secret_until: OptionalTime;
  verify_token: string | null;
  listening_until: OptionalTime;
}

interface Runs {
  id: string;
  workspace_id: string;
  agent_id: string;
  status: string;
  owner: string | null;
  fence: number;
  attempt: Generated<number>;
  waited_ms: Generated<string>;
  last_seq: number;
  last_transaction: Generated<string>;
  cancel_requested_at: OptionalTime;
  created_at: Time;
  started_at: OptionalTime;
  finished_at: OptionalTime;
  released_at: OptionalTime;
}

interface RunInputs {
  run_id: string;
  workspace_id: string;
  agent_version: number;
  source: RunSource;
  trigger_id: string | null;
  payload: string;
  prompt_prefix: string;
  content_type: string | null;
  principal: string;
  // The columns from here to `depth` are reserved for conversations and runs started by agents.
  // They are not written yet.
  conversation_id: string | null;
  parent_run_id: string | null;
  root_run_id: string | null;
  depth: Generated<number>;
  retry_of: string | null;
  engine_version: number;
  external_id: string | null;
  tags: string[] | null;
}

interface RunDrafts {
  run_id: string;
  workspace_id: string;
  config: JSONColumnType<AgentConfig, string, string>;
  provider_id: string | null;
}

interface RunResults {
  run_id: string;
  workspace_id: string;
  output: string | null;
  error_code: string | null;
  error_message: string | null;
  input_tokens: string;
  output_tokens: string;
  cached_input_tokens: string;
  cache_write_tokens: Generated<string>;
  reasoning_tokens: Generated<string>;
  usage_estimated: boolean;
  cost_micros: string | null;
  limit_reached: JSONColumnType<Record<string, unknown>, string, string> | null;
}

interface Events {
  run_id: string;
  seq: number;
  workspace_id: string;
  transaction: Generated<string>;
  id: string;
  type: string;
  version: number;
  time: Time;
  data: JSONColumnType<Record<string, unknown>, string, string>;
}

interface WorkspaceEvents {
  number: Generated<string>;
  id: string;
  workspace_id: string;
  agent_id: string | null;
  transaction: Generated<string>;
  type: string;
  version: number;
  time: Time;
  data: JSONColumnType<Record<string, unknown>, string, string>;
}

interface Artifacts {
  id: string;
  workspace_id: string;
  run_id: string;
  media_type: string;
  content: Buffer;
  created_at: Time;
}

interface Idempotency {
  workspace_id: string;
  scope: string;
  key: string;
  body_hash: Buffer;
  run_id: string | null;
  answer: string | null;
  created_at: Time;
}

interface Audit {
  id: string;
  workspace_id: string;
  time: Time;
  actor: string;
  address: string | null;
  action: string;
  target: string;
  data: JSONColumnType<Record<string, unknown>, string, string>;
}

interface UsageEntries {
  run_id: string;
  seq: number;
  number: number;
  workspace_id: string;
  time: Time;
  /** A date. Select it as text (YYYY-MM-DD): `pg` returns a `date` as midnight in local time. */
  day: string;
  agent_id: string;
  source: string;
  principal: string;
  trigger_id: string | null;
  tags: string[] | null;
  step: number;
  attempt: number;
  outcome: string;
  kind: string;
  provider: string;
  model: string;
  input_tokens: Generated<string>;
  output_tokens: Generated<string>;
  cached_input_tokens: Generated<string>;
  cache_write_tokens: Generated<string>;
  reasoning_tokens: Generated<string>;
  voice_ms: Generated<string>;
  browser_ms: Generated<string>;
  cost_micros: string | null;
  standard_cost_micros: string | null;
  price_origin: string | null;
  estimated: boolean;
  transaction: Generated<string>;
}

interface UsageDays {
  id: Generated<string>;
  workspace_id: string;
  /** A date. Select it as text (YYYY-MM-DD): `pg` returns a `date` as midnight in local time. */
  day: string;
  agent_id: string;
  provider: string;
  model: string;
  principal: string;
  trigger_id: string | null;
  kind: string;
  entries: string;
  input_tokens: string;
  output_tokens: string;
  cached_input_tokens: string;
  cache_write_tokens: string;
  reasoning_tokens: string;
  voice_ms: string;
  browser_ms: string;
  cost_micros: string;
  unknown_cost_entries: string;
  standard_cost_micros: string;
  unknown_standard_cost_entries: string;
  estimated_entries: string;
}

interface UsageRollups {
  workspace_id: string;
  up_to: string;
  /** A date. Select it as text (YYYY-MM-DD): `pg` returns a `date` as midnight in local time. */
  merged_before: string;
  /** Time of the newest entry that was deleted after its retention; null if there is none. */
  deleted_until: Date | null;
}

interface Plans {
  id: string;
  workspace_id: string;
  name: string;
  tokens: string | null;
  voice_ms: string | null;
  browser_ms: string | null;
  cost_micros: string | null;
  created_at: Time;
  updated_at: Time;
}

interface Ceilings {
  workspace_id: string;
  scope_kind: string;
  scope_id: string;
  limit_micros: string;
  pauses_agent: Generated<boolean>;
  created_at: Time;
  updated_at: Time;
}

interface Budgets {
  workspace_id: string;
  scope_id: string;
  scope_kind: string;
  metric: string;
  id: Generated<string>;
  allowed: string | null;
  changes_next: Generated<boolean>;
  next_allowed: string | null;
  pauses_agent: Generated<boolean>;
  refused: Generated<boolean>;
  starts: Date;
  ends: Date;
  spent: Generated<string>;
  reserved: Generated<string>;
  crossed: Generated<number>;
  waiter_seen_at: OptionalTime;
}

interface Reservations {
  run_id: string;
  workspace_id: string;
  agent_id: string;
  principal: string;
  trigger_id: string | null;
  state: string;
  asked_at: Time;
  seen_at: Time;
  asked: JSONColumnType<Record<string, unknown>, string, string> | null;
  cost_micros: string | null;
  plan_cost_micros: string | null;
  tokens: Generated<string>;
  voice_ms: Generated<string>;
  browser_ms: Generated<string>;
  held_in: Generated<string[]>;
}

interface Subscriptions {
  id: string;
  workspace_id: string;
  url: string;
  description: string;
  event_types: string[];
  agent_ids: string[] | null;
  trigger_ids: string[] | null;
  tags: string[] | null;
  payload: PayloadStyle;
  format: DeliveryFormat;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: OptionalTime;
  headers: string | null;
  header_names: Generated<string[]>;
  status: Generated<SubscriptionStatus>;
  disabled_reason: DisabledReason | null;
  inactive_since: OptionalTime;
  last_success_at: OptionalTime;
  last_failure_at: OptionalTime;
  last_error: string | null;
  failing_since: OptionalTime;
  not_before: OptionalTime;
  created_by: string;
  version: Generated<number>;
  created_at: Time;
  updated_at: Time;
  deleted_at: OptionalTime;
}

interface Deliveries {
  id: string;
  workspace_id: string;
  subscription_id: string;
  kind: DeliveryKind;
  event_id: string;
  type: string;
  version: number;
  time: Time;
  agent_id: string | null;
  run_id: string | null;
  seq: number | null;
  data: JSONColumnType<Record<string, unknown>> | null;
  callback_url: string | null;
  status: DeliveryStatus;
  attempts: Generated<number>;
  claims: Generated<number>;
  next_at: OptionalTime;
  last_status: number | null;
  last_error: string | null;
  finished_at: OptionalTime;
}

interface DeliveryAttempts {
  subscription_id: string;
  delivery_id: string;
  number: number;
  workspace_id: string;
  started_at: Date;
  duration_ms: number;
  url: string;
  request_headers: JSONColumnType<Record<string, string>>;
  status: number | null;
  response_headers: JSONColumnType<Record<string, string>>;
  response_body: string;
  error: string | null;
}

interface RunCallbacks {
  run_id: string;
  workspace_id: string;
  subscription_id: string;
  url: string;
}

interface ReceivedRequests {
  id: string;
  workspace_id: string;
  agent_id: string;
  trigger_id: string;
  received_at: Time;
  outcome: RequestOutcome;
  error: string | null;
  event_id: string | null;
  event_type: string | null;
  run_id: string | null;
  replay_of: string | null;
  agent_version: number | null;
  address: string | null;
  content_type: string | null;
  content_encoding: string | null;
  size: number;
  query: string | null;
  headers: JSONColumnType<Record<string, string>> | null;
  body: Buffer | null;
}

interface TriggerEventIds {
  workspace_id: string;
  trigger_id: string;
  event_id: string;
  run_id: string;
  expires_at: ColumnType<Date, Date, Date>;
}

interface RequestCounts {
  workspace_id: string;
  trigger_id: string;
  outcome: RequestOutcome;
  minute: ColumnType<Date, Date, Date>;
  count: number;
}

/** The schema's tables, for the query builder. */
export interface Tables {
  workspaces: Workspaces;
  users: Users;
  sessions: Sessions;
  accounts: Accounts;
  password_resets: PasswordResets;
  members: Members;
  invitations: Invitations;
  providers: Providers;
  prices: Prices;
  agents: Agents;
  agent_versions: AgentVersions;
  agent_secrets: AgentSecrets;
  tokens: Tokens;
  keys: Keys;
  key_secrets: KeySecrets;
  triggers: Triggers;
  runs: Runs;
  run_inputs: RunInputs;
  run_drafts: RunDrafts;
  run_results: RunResults;
  events: Events;
  workspace_events: WorkspaceEvents;
  artifacts: Artifacts;
  usage_entries: UsageEntries;
  usage_days: UsageDays;
  usage_rollups: UsageRollups;
  plans: Plans;
  ceilings: Ceilings;
  budgets: Budgets;
  reservations: Reservations;
  subscriptions: Subscriptions;
  deliveries: Deliveries;
  delivery_attempts: DeliveryAttempts;
  run_callbacks: RunCallbacks;
  received_requests: ReceivedRequests;
  trigger_event_ids: TriggerEventIds;
  request_counts: RequestCounts;
  idempotency: Idempotency;
  audit: Audit;
}
