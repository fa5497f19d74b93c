import type { LogArea, LogLevel } from "./levels.ts";

/**
 * What a field of a log line can contain:
 * - `id`: text of a closed set or of our own making: an id, a code, a route template.
 * - `text`: any other text. It is truncated, and its control characters are escaped.
 * - `stack`: the stack of an error, treated like `text` with a larger limit.
 */
interface FieldValues {
  readonly id: string;
  readonly ids: readonly string[];
  readonly text: string;
  readonly stack: string;
  readonly number: number;
  readonly boolean: boolean;
}
/** What a field of a log line can contain: see `FieldValues`. */
export type FieldKind = keyof FieldValues;

/** A field; with `?`, one that can be undefined or null, and is then left out. */
type FieldSpec = FieldKind | `${FieldKind}?`;

/** Declaration of a log line. */
export interface LineSpec {
  readonly area: LogArea;
  readonly level: Exclude<LogLevel, "silent">;
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/**
 * All log lines, by their message. A line has these fields and no others: the compiler rejects
 * further ones, and the writer drops them. Never add a field for a URL, a header, a body, a prompt
 * or the output of a model.
 *
 * To find where a line is written, search the code for its message.
 */
export const logLines = {
  // Processes
  "process started": {
    area: "process",
    level: "info",
    fields: { process_id: "id", role: "id", version: "id", pid: "number", node: "id" },
  },
  "process stopping": {
    area: "process",
    level: "info",
    fields: { process_id: "id", runs: "number?" },
  },
  "process stopped": {
    area: "process",
    level: "info",
    fields: { process_id: "id", uptime_seconds: "number" },
  },
  "the supervisor exited; this process exits at once": {
    area: "process",
    level: "error",
    fields: {},
  },
  "server exited, starting another": {
    area: "process",
    level: "error",
    fields: {
      process_id: "id",
      wait_ms: "number",
      exit_code: "number?",
      signal: "id?",
      reason: "text?",
    },
  },
  "server waits for the database": {
    area: "process",
    level: "debug",
    fields: {
      process_id: "id",
      wait_ms: "number",
      exit_code: "number?",
      signal: "id?",
      reason: "text?",
    },
  },
  "channel to a server failed": {
    area: "process",
    level: "error",
    fields: { process_id: "id", reason: "text" },
  },
  "metrics could not be collected": {
    area: "process",
    level: "warn",
    fields: { process_id: "id?", reason: "text" },
  },
  "log lines were dropped": { area: "process", level: "error", fields: { lines: "number" } },

  // HTTP
  request: {
    area: "http",
    level: "info",
    fields: {
      method: "id",
      route: "id",
      status: "number?",
      duration_ms: "number",
      request_id: "id",
      caller: "id",
      stream: "boolean?",
      disconnected: "boolean?",
    },
  },
  "a request failed because of an internal error": {
    area: "http",
    level: "error",
    fields: { request_id: "id", route: "id", reason: "text", stack: "stack?" },
  },
  "requests are rejected with 503": {
    area: "http",
    level: "warn",
    fields: { request_id: "id", route: "id", reason: "text", count: "number" },
  },
  "requests are accepted again": {
    area: "http",
    level: "info",
    fields: { reason: "text", count: "number", duration_ms: "number" },
  },
  "the credentials of open streams could not be checked": {
    area: "http",
    level: "error",
    fields: { reason: "text" },
  },
  "a stream ended because of an internal error; its reader can resume it": {
    area: "http",
    level: "error",
    fields: { request_id: "id", reason: "text" },
  },
  "credential rejected": {
    area: "auth",
    level: "warn",
    fields: {
      kind: "id",
      route: "id",
      address: "text",
      request_id: "id",
      suppressed: "number?",
    },
  },
  "a failed sign-in was not written to the audit log": {
    area: "auth",
    level: "warn",
    fields: { reason: "text" },
  },
  "last_used_at of a key was not updated": {
    area: "auth",
    level: "debug",
    fields: { reason: "text" },
  },

  // Runs
  "run ended": {
    area: "runs",
    level: "info",
    fields: {
      run_id: "id",
      agent_id: "id?",
      status: "id",
      error_code: "id?",
      duration_ms: "number?",
      steps: "number",
      input_tokens: "number",
      output_tokens: "number",
      cost_micros: "number?",
    },
  },
  "queued runs expired": { area: "runs", level: "warn", fields: { runs: "number" } },
  "held runs expired": { area: "runs", level: "warn", fields: { runs: "number" } },
  "a received request could not be recorded": {
    area: "triggers",
    level: "warn",
    fields: { trigger_id: "id", reason: "text" },
  },
  "a filter or message template took too long": {
    area: "triggers",
    level: "warn",
    fields: { workspace_id: "id", limit_ms: "number" },
  },
  "the process of a filter or message template exited": {
    area: "triggers",
    level: "warn",
    fields: { workspace_id: "id" },
  },
  "the process of filters and message templates does not start": {
    area: "triggers",
    level: "error",
    fields: {},
  },
  "runs resumed": { area: "runs", level: "info", fields: { runs: "number" } },
  "executing a run failed unexpectedly": {
    area: "runs",
    level: "error",
    fields: { run_id: "id", reason: "text", stack: "stack?" },
  },
  "a run whose caller got 503 could not be cancelled": {
    area: "runs",
    level: "error",
    fields: { run_id: "id", reason: "text" },
  },
  "runs could not be released before the process exits": {
    area: "runs",
    level: "warn",
    fields: { runs: "number" },
  },
  "a background task failed; it will be retried": {
    area: "runs",
    level: "error",
    fields: { task: "id", reason: "text", stack: "stack?" },
  },

  // Models
  "provider failed": {
    area: "models",
    level: "warn",
    fields: { run_id: "id", agent_id: "id", error_code: "id", reason: "text", count: "number" },
  },
  "provider works again": {
    area: "models",
    level: "info",
    fields: { run_id: "id", agent_id: "id", count: "number", duration_ms: "number" },
  },
  "model server found": { area: "models", level: "info", fields: { provider: "id" } },
  "model server gone": { area: "models", level: "info", fields: { provider: "id" } },

  // Deliveries
  "delivery failed": {
    area: "deliveries",
    level: "warn",
    fields: {
      delivery_id: "id",
      subscription_id: "id",
      attempt: "number",
      final: "boolean",
      status: "number?",
      duration_ms: "number",
      reason: "text",
      count: "number",
    },
  },
  "deliveries succeed again": {
    area: "deliveries",
    level: "info",
    fields: { subscription_id: "id", count: "number", duration_ms: "number" },
  },
  "a subscription was disabled": {
    area: "deliveries",
    level: "warn",
    fields: { subscription_id: "id", reason: "id" },
  },

  // Limits
  "workspaces are on a plan that does not exist; they keep its allowances": {
    area: "limits",
    level: "warn",
    fields: { plan: "text" },
  },

  // Database
  "this database does not allow Beckon to detect a restore": {
    area: "database",
    level: "info",
    fields: { reason: "text" },
  },
  "the database was restored from a backup: runs in progress were ended, deliveries were not sent":
    {
      area: "database",
      level: "warn",
      fields: { runs: "number", deliveries: "number" },
    },
  "the database was restored since the last startup; all event cursors become invalid": {
    area: "database",
    level: "warn",
    fields: {},
  },
  "encrypted with the new master key": {
    area: "database",
    level: "info",
    fields: { secrets: "number" },
  },
  "secrets could not be decrypted with the previous master key: they were altered or moved": {
    area: "database",
    level: "warn",
    fields: { secrets: "number" },
  },
  "the old master key was declared lost: its secrets cannot be decrypted any more": {
    area: "database",
    level: "warn",
    fields: {},
  },
  "BECKON_MASTER_KEY_LOST is set: unset it, or the next start accepts any wrong key": {
    area: "database",
    level: "warn",
    fields: {},
  },
  "the database is unavailable": {
    area: "database",
    level: "warn",
    fields: { reason: "text", count: "number" },
  },
  "the database is available again": {
    area: "database",
    level: "info",
    fields: { count: "number", duration_ms: "number" },
  },
  "the LISTEN connection was lost; until it is restored, other processes' work is found by polling":
    { area: "database", level: "warn", fields: {} },
  "this process was declared dead; it drops its runs and continues under a new id": {
    area: "database",
    level: "warn",
    fields: { process_id: "id" },
  },
  "processes with expired leases were declared dead": {
    area: "database",
    level: "warn",
    fields: { process_ids: "ids" },
  },
  "reading events failed; it will be retried": {
    area: "database",
    level: "error",
    fields: { reason: "text" },
  },
  "stopping a PostgreSQL that outlived its supervisor": {
    area: "database",
    level: "warn",
    fields: { pid: "number" },
  },
  "killing the remaining processes of a PostgreSQL that was killed": {
    area: "database",
    level: "warn",
    fields: { pids: "ids" },
  },
  "PostgreSQL did not start and is started again": {
    area: "database",
    level: "error",
    fields: { reason: "text" },
  },
  "PostgreSQL exited and is started again": {
    area: "database",
    level: "error",
    fields: { reason: "text" },
  },
} as const satisfies Record<string, LineSpec>;

/** The message of a log line. */
export type LogLineName = keyof typeof logLines;

type FieldsOf<Name extends LogLineName> = (typeof logLines)[Name]["fields"];
type Required<Fields> = {
  readonly [Key in keyof Fields as Fields[Key] extends FieldKind
    ? Key
    : never]: Fields[Key] extends FieldKind ? FieldValues[Fields[Key]] : never;
};
type Optional<Fields> = {
  readonly [Key in keyof Fields as Fields[Key] extends `${FieldKind}?`
    ? Key
    : never]?: Fields[Key] extends `${infer Kind extends FieldKind}?`
    ? FieldValues[Kind] | null | undefined
    : never;
};

/** The fields of a line. */
export type LogFields<Name extends LogLineName> = Required<FieldsOf<Name>> &
  Optional<FieldsOf<Name>>;
