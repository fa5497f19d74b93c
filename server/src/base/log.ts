import { pino } from "pino";
import { messageOf } from "./errors.ts";
import {
  type FieldKind,
  type LineSpec,
  type LogFields,
  type LogLevel,
  type LogLevels,
  type LogLineName,
  type LogOutput,
  logAreas,
  logLines,
  OutageLog,
  prettyOutput,
  standardOutput,
} from "./logging/index.ts";
import { shorten } from "./shorten.ts";

/** Writes the lines of `logLines`. */
export interface Log {
  /** Writes the line with the message `name`, if its level is on. `logLines` lists its fields. */
  write<Name extends LogLineName>(name: Name, fields: LogFields<Name>): void;
  /** Returns whether the level of the line is on. */
  writes(name: LogLineName): boolean;
  /** Logs of failures that repeat. Each writes few lines, however long an outage lasts. */
  readonly outages: Outages;
}

/** The kinds of outages. Each `OutageLog` distinguishes its outages by a text, `key`. */
export interface Outages {
  /** Errors of the database, in any task. */
  readonly database: { failed(thrown: unknown): void; succeeded(): void };
  /** Requests that are rejected with 503 for another reason than the database. `key` is empty. */
  readonly overload: OutageLog<Omit<LogFields<"requests are rejected with 503">, "count">>;
  /**
   * Runs that failed because of a model call, and failed calls of models that are down. `key` names
   * workspace and model.
   */
  readonly providers: OutageLog<Omit<LogFields<"provider failed">, "count">>;
  /** Model calls that the provider's rate limit rejected. `key` names workspace and model. */
  readonly rateLimits: OutageLog<Omit<LogFields<"provider limits calls">, "count">>;
  /**
   * Failed attempts of deliveries. `key` names the subscription, and whether they are callbacks,
   * which have other URLs.
   */
  readonly receivers: OutageLog<Omit<LogFields<"delivery failed">, "count">>;
  /** Failed exports of spans. `key` is empty. */
  readonly traces: OutageLog<Omit<LogFields<"spans could not be exported">, "count">>;
}

export interface LogOptions {
  /**
   * `json`: one object per line. `pretty`: for people. Default: `pretty` if lines are written to a
   * terminal, otherwise `json`.
   */
  readonly format?: "json" | "pretty" | undefined;
  /**
   * `shared` if other processes write many lines to the same standard output. Lines then stay
   * whole, at a higher cost. Default: `shared`.
   */
  readonly sharing?: "alone" | "shared";
  /** Where lines are written. Default: standard output, buffered. */
  readonly output?: LogOutput;
}

/** Creates a log. A single level applies to all areas. */
export function createLog(levels: LogLevels | LogLevel, options: LogOptions = {}): Log {
  const { others, areas } = typeof levels === "string" ? { others: levels, areas: {} } : levels;
  const { output = silentIf(others, areas) ?? standardOutput(options.sharing) } = options;
  const isTerminal = options.output === undefined && process.stdout.isTTY;
  const format = options.format ?? (isTerminal ? "pretty" : "json");
  const root = pino(
    {
      level: "trace",
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
    },
    format === "pretty" ? prettyOutput(output) : output,
  );
  const loggers = new Map(
    logAreas.map((area) => [area, root.child({ area }, { level: areas[area] ?? others })]),
  );
  const writers = new Map<LogLineName, (fields: Readonly<Record<string, unknown>>) => void>();
  for (const [name, spec] of Object.entries<LineSpec>(logLines)) {
    const logger = loggers.get(spec.area);
    if (logger === undefined || !logger.isLevelEnabled(spec.level)) continue;
    const kinds = Object.entries(spec.fields).map(
      ([field, kind]) => [field, kind.replace("?", "") as FieldKind] as const,
    );
    // Warnings and errors do not wait in the buffer, where they would be lost if the process is
    // killed.
    const isUrgent = ["warn", "error", "fatal"].includes(spec.level);
    writers.set(name as LogLineName, (fields) => {
      logger[spec.level](pick(fields, kinds), name);
      if (isUrgent) output.flush?.();
    });
  }
  const log: Log = {
    write: (name, fields) => writers.get(name)?.(fields as Readonly<Record<string, unknown>>),
    writes: (name) => writers.has(name),
    outages: {
      database: databaseOutage((name, fields) => log.write(name, fields)),
      overload: new OutageLog({
        failed: (fields, count) =>
          log.write("requests are rejected with 503", { ...fields, count }),
        worksAgain: ({ reason }, count, durationMs) =>
          log.write("requests are accepted again", { reason, count, duration_ms: durationMs }),
        quietMs: 2_000,
      }),
      providers: new OutageLog({
        failed: (fields, count) => log.write("provider failed", { ...fields, count }),
        worksAgain: ({ workspace_id, model }, count, durationMs) =>
          log.write("provider works again", {
            workspace_id,
            model,
            count,
            duration_ms: durationMs,
          }),
        quietMs: 10_000,
      }),
      rateLimits: new OutageLog({
        failed: (fields, count) => log.write("provider limits calls", { ...fields, count }),
        worksAgain: ({ workspace_id, model }, count, durationMs) =>
          log.write("provider no longer limits calls", {
            workspace_id,
            model,
            count,
            duration_ms: durationMs,
          }),
        // Such limits are per minute, and admit some calls in each.
        quietMs: 60_000,
      }),
      receivers: new OutageLog({
        failed: (fields, count) => log.write("delivery failed", { ...fields, count }),
        worksAgain: ({ subscription_id }, count, durationMs) =>
          log.write("deliveries succeed again", {
            subscription_id,
            count,
            duration_ms: durationMs,
          }),
        quietMs: 10_000,
      }),
      traces: new OutageLog({
        failed: (fields, count) => log.write("spans could not be exported", { ...fields, count }),
        worksAgain: (_fields, count, durationMs) =>
          log.write("spans are exported again", { count, duration_ms: durationMs }),
        quietMs: 10_000,
      }),
    },
  };
  output.onDropped?.((dropped) => log.write("log lines were dropped", { lines: dropped }));
  return log;
}

/**
 * Returns a function that returns the field `time` of a line. Under load, several lines are written
 * within a millisecond, so they share the formatted time.
 */
function createTimestamp(): () => string {
  let formattedAt = Number.NaN;
  let field = "";
  return () => {
    const now = Date.now();
    if (now !== formattedAt) {
      formattedAt = now;
      field = `,"time":"${new Date(now).toISOString()}"`;
    }
    return field;
  };
}

function databaseOutage(write: Log["write"]): Outages["database"] {
  const outages = new OutageLog<{ readonly reason: string }>({
    failed: (fields, count) => write("the database is unavailable", { ...fields, count }),
    worksAgain: (_fields, count, durationMs) =>
      write("the database is available again", { count, duration_ms: durationMs }),
    quietMs: 1_500,
  });
  return {
    failed: (thrown) => outages.failed("", { reason: messageOf(thrown) }),
    succeeded: () => outages.succeeded(""),
  };
}

/** Returns an output that discards everything if every area is `silent`, else undefined. */
function silentIf(others: LogLevel, areas: LogLevels["areas"]): LogOutput | undefined {
  const isSilent = logAreas.every((area) => (areas[area] ?? others) === "silent");
  return isSilent ? { write: () => {} } : undefined;
}

/** Maximum characters of a text and of a stack. */
const maxCharacters = { text: 300, stack: 4_000 };

/**
 * Returns the fields that the line declares, without those that are undefined or null. Texts and
 * stacks are passed through `safeText`.
 */
function pick(
  fields: Readonly<Record<string, unknown>>,
  kinds: readonly (readonly [name: string, kind: FieldKind])[],
): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [name, kind] of kinds) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    picked[name] = kind === "text" || kind === "stack" ? safeText(String(value), kind) : value;
  }
  return picked;
}

/**
 * Truncates a text and escapes its control characters, including those that change the direction
 * of text. Otherwise a provider's error message could control the terminal that shows the log, or
 * imitate log lines.
 */
function safeText(text: string, kind: keyof typeof maxCharacters): string {
  return shorten(text, maxCharacters[kind]).replace(
    kind === "stack" ? unsafeInStack : unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** Like `unsafe`, without the newline: JSON escapes it, and the format `pretty` needs it. */
const unsafeInStack =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
