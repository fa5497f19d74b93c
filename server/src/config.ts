// This file is long because every setting is in one table.
import { resolve } from "node:path";
import { z } from "zod";
import { ConfigError } from "./base/errors.ts";
import { parseHostPort } from "./base/host-port.ts";
import { type LogLevels, logAreas, logLevels, parseLogLevels } from "./base/logging/index.ts";
import { automaticProcesses, maxProcesses } from "./base/machine/index.ts";
import type { Retention } from "./base/retention/index.ts";
import { findUnknownSettings, isInjected, type Setting, whole } from "./base/settings/index.ts";
import {
  areTracesOff,
  readTraceSettings,
  type TraceSettings,
  traceVariables,
} from "./base/tracing/index.ts";

/** The settings of this process. They are read once from the environment and then frozen. */
export interface Config {
  /** TCP port. With 0, the system chooses a free port. */
  readonly port: number;
  readonly host: string;
  /**
   * Address that callers use, normalized and without a trailing slash; undefined for
   * `http://host:port`.
   */
  readonly publicUrl: string | undefined;
  /**
   * Number of proxies through which every request passes, 0 to 10. Unless it is 0, the headers
   * `X-Forwarded-For` (IP address of the caller) and `traceparent` (trace of the caller) are
   * trusted.
   */
  readonly trustedProxies: number;
  /** URL of an external PostgreSQL; undefined if Beckon runs PostgreSQL in the data folder. */
  readonly databaseUrl: string | undefined;
  /**
   * Whether an external PostgreSQL is accepted although its `fsync`, `full_page_writes` or
   * `synchronous_commit` is off.
   */
  readonly trustStorage: boolean;
  /** Absolute path of the data folder. */
  readonly dataDir: string;
  /** 32 bytes in base64 or hex; undefined if the key is stored in the data folder. */
  readonly masterKey: string | undefined;
  /**
   * The master key before `masterKey`. Startup re-encrypts with `masterKey` the secrets that this
   * earlier key encrypted. If undefined, it re-encrypts nothing.
   */
  readonly previousMasterKey: string | undefined;
  /** Whether to start although secrets of an earlier master key cannot be decrypted. */
  readonly masterKeyLost: boolean;
  /**
   * The key with all permissions in the workspace `default`: 32 to 128 characters. If undefined,
   * Beckon generates a key in the data folder; with an external database there is no such key.
   */
  readonly bootstrapKey: string | undefined;
  /** Whether startup issues a link to create the first owner's account, while there is no owner. */
  readonly setupLink: boolean;
  /**
   * `api` serves requests, `worker` executes queued runs and serves only its probes, `all` does
   * both.
   */
  readonly role: "all" | "api" | "worker";
  /** Number of server processes that the supervisor keeps running. */
  readonly processes: number;
  readonly leaseSeconds: number;
  readonly drainSeconds: number;
  /**
   * Seconds at the beginning of a stop in which `/readyz` responds with 503 but the process still
   * accepts requests and runs.
   */
  readonly drainDelaySeconds: number;
  /** Maximum number of runs that one process executes at the same time. Further runs queue. */
  readonly maxRuns: number;
  /**
   * Maximum memory in MiB that one process uses for the runs, large requests and large responses of
   * all workspaces; undefined for half of its heap's limit.
   */
  readonly memoryBudgetMib: number | undefined;
  /**
   * Maximum connections of one process to PostgreSQL, not counting the one that renews its lease
   * and the one for LISTEN.
   */
  readonly poolSize: number;
  /**
   * Addresses that agents can call although they are not public, each as `host:port` in the form
   * that `parseHostPort` returns.
   */
  readonly egressAllow: readonly string[];
  /** The operator's accounts at providers of models. */
  readonly accounts: {
    readonly openai: { readonly baseUrl: string | undefined; readonly apiKey: string | undefined };
    readonly anthropic: {
      readonly baseUrl: string | undefined;
      readonly apiKey: string | undefined;
    };
    readonly google: { readonly baseUrl: undefined; readonly apiKey: string | undefined };
  };
  /**
   * Whether all workspaces can use the providers in `accounts`. If false, only the workspace
   * `default` can.
   */
  readonly shareProviders: boolean;
  /**
   * Whether model servers on this machine (Ollama, LM Studio, llama.cpp, vLLM at their default
   * ports) become providers of the workspace `default`.
   */
  readonly discover: boolean;
  /** Absolute path of the operator's prices; undefined if there is no such file. */
  readonly pricesFile: string | undefined;
  /** Absolute path of the operator's plans; undefined if there is no such file. */
  readonly plansFile: string | undefined;
  /**
   * Seconds before each attempt of a delivery, counted from the attempt before it. The first is 0.
   */
  readonly retrySchedule: readonly number[];
  /** Seconds that one attempt of a delivery can take. */
  readonly deliveryTimeoutSeconds: number;
  readonly retention: Retention;
  readonly logLevels: LogLevels;
  /** TCP port of the metrics; undefined if there are none. With 0, the system chooses a port. */
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  /** How traces are made and exported; undefined if there are none. */
  readonly traces: TraceSettings | undefined;
  /** undefined: `pretty` if standard output is a terminal, otherwise `json`. */
  readonly logFormat: "json" | "pretty" | undefined;
}

/**
 * Settings whose values are secret and are not shown in messages. A wrong base URL is often one
 * that contains a password or a key, so base URLs are not shown either.
 */
const secret = new Set([
  "BECKON_MASTER_KEY",
  "BECKON_MASTER_KEY_PREVIOUS",
  "BECKON_BOOTSTRAP_KEY",
  "DATABASE_URL",
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_BASE_URL",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
]);

const apiKey = {
  schema: z
    .string()
    .regex(/^[\x21-\x7e]{1,4000}$/)
    .optional(),
  validValues: "a key as the provider issued it, without spaces",
};

const masterKey = {
  schema: z
    .union([z.string().regex(/^[0-9a-fA-F]{64}$/), z.string().regex(/^[A-Za-z0-9+/]{43}=?$/)])
    .optional(),
  validValues:
    "32 random bytes as 64 hex digits or as base64, for example from: openssl rand -base64 32",
};

const flag = (fallback: "0" | "1") => ({
  schema: z.enum(["0", "1"]).default(fallback),
  validValues: "0 or 1",
});

/** Setting for a retention in days: 0, or `minDays` to 3,650. */
const retention = (minDays: number, fallback: number, help: string) => ({
  schema: whole(0, 3_650, fallback).pipe(
    z.number().refine((days) => days === 0 || days >= minDays),
  ),
  validValues: `0 or ${minDays} to 3650 days`,
  help: `${help} 0: for ever.`,
});

/**
 * Setting for the root URL of a provider's API. A trailing slash is removed. The provider's library
 * appends the rest of each path.
 */
const apiRoot = (example: string) => ({
  schema: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^?#@]*$/)
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  validValues: `an http or https URL without a query: the root of the API, for example ${example}`,
  unset: "the provider's own API",
});

/** All settings, in the order in which `--help` and `docs/settings.md` list them. */
const settings = {
  PORT: {
    schema: whole(0, 65_535, 3000),
    validValues: "a port, 0 to 65535",
    help: "TCP port to listen on. 0 takes a free one.",
  },
  HOST: {
    schema: z.string().min(1).default("127.0.0.1"),
    validValues: "an address to listen on, for example 127.0.0.1 or 0.0.0.0",
    help: "Address to listen on. 0.0.0.0 accepts connections from other machines.",
  },
  PUBLIC_URL: {
    schema: z
      .url({ protocol: /^https?$/ })
      .regex(/^[^?#@]*$/)
      // In the form that URLs have in browsers: code compares it with https: and with origins.
      .transform((url) => new URL(url).href.replace(/\/+$/, ""))
      .optional(),
    validValues: "an http or https URL without a query, for example https://agents.example.com",
    help:
      "Address that callers and browsers use, for trigger URLs and links. " +
      "The dashboard and /docs work only without a path; the API also with one, if the proxy " +
      "removes it. " +
      "Only pages of this site can use a session. With https, cookies are sent over TLS only.",
    unset: "http://HOST:PORT, or the loopback address if HOST is every address",
  },
  DATABASE_URL: {
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//)
      .optional(),
    validValues: "a postgresql:// URL; leave it unset to run PostgreSQL inside",
    help:
      "External PostgreSQL: version 15 or newer, UTF8, without a pooler such as PgBouncer. " +
      "[docs/operate.md](operate.md#an-external-postgresql) says which role it needs.",
    unset: "PostgreSQL inside, in the data folder",
  },
  BECKON_DATA_DIR: {
    schema: z.string().min(1).default("./data"),
    validValues: "a folder",
    help:
      "Data folder: PostgreSQL's files, the master key, the bootstrap key and " +
      "the demo agent's secrets.",
    unset: "the folder data of the checkout or, with the tarball, of the current folder",
  },
  BECKON_MASTER_KEY: {
    ...masterKey,
    help:
      "Key that encrypts stored secrets. Required with DATABASE_URL. " +
      "[To change it](master-key.md), start once with both keys.",
    unset: "generated once, in the file master.key of the data folder",
  },
  BECKON_MASTER_KEY_PREVIOUS: {
    ...masterKey,
    validValues: "the master key before this one, 32 bytes as 64 hex digits or as base64",
    help: "The master key before this one. Startup encrypts its secrets with the new key.",
  },
  BECKON_MASTER_KEY_LOST: {
    ...flag("0"),
    help:
      "1: start with a new master key although the old one " +
      "[is lost](master-key.md#if-the-key-is-lost).",
  },
  BECKON_BOOTSTRAP_KEY: {
    schema: z
      .string()
      .regex(/^(?!bka_|bkt_|bkw_)[\x21-\x7e]{32,128}$/)
      .optional(),
    validValues:
      "32 to 128 printable ASCII characters without spaces, " +
      "not beginning with bka_, bkt_ or bkw_",
    help:
      "API key with all scopes in the workspace `default`. " +
      "If it changes, the old one stops at the next start.",
    unset:
      "generated once, in the file bootstrap.key of the data folder; " +
      "with DATABASE_URL: no such key",
  },
  BECKON_SETUP_LINK: {
    ...flag("1"),
    help:
      "1: startup prints a link that makes the first owner, while there is no owner. " +
      "It is the only secret in the output. The links of the last ten starts work. " +
      "0: no such link works.",
  },
  BECKON_ROLE: {
    schema: z.enum(["all", "api", "worker"]).default("all"),
    validValues: "all, api or worker",
    help:
      "`api` serves requests, `worker` executes queued runs and serves only `/healthz` and " +
      "`/readyz`, `all` does both.",
  },
  BECKON_PROCESSES: {
    schema: z.union([
      z.literal("auto").transform(() => automaticProcesses()),
      whole(1, maxProcesses, 1),
    ]),
    validValues: `1 to ${maxProcesses}, or auto`,
    help:
      "Server processes on this machine. More than 1 share one port, " +
      "which needs Node.js 24.19 to 24.x, or 26.4 or newer. `auto`: one per CPU that the machine " +
      "or the container allows, but at most one per 512 MiB of memory.",
  },
  BECKON_MAX_RUNS: {
    schema: whole(1, 100_000, 2_000),
    validValues: "1 to 100000",
    help:
      "Runs that one process executes at the same time. Further runs queue. Of several " +
      "workspaces, one can use three quarters.",
  },
  BECKON_MEMORY_BUDGET_MIB: {
    schema: z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number)
      .pipe(z.number().min(96).max(1_048_576))
      .optional(),
    validValues: "96 to 1048576 MiB; leave it unset for half of the heap's limit",
    help: "Memory of one process for runs, large requests and large responses, in MiB.",
    unset: "half of the heap's limit",
  },
  BECKON_POOL_SIZE: {
    schema: whole(4, 200, 10),
    validValues: "4 to 200 connections",
    help: "Database connections of one process, without those for its lease and for LISTEN.",
  },
  BECKON_LEASE_SECONDS: {
    schema: whole(2, 600, 30),
    validValues: "2 to 600 seconds",
    help:
      "Seconds after which the runs of a silent process are resumed by another one. " +
      "A process renews its lease every sixth of this time, and a garbage collection of a full heap " +
      "can stop it for 1 to 2 seconds. With less than 10, such a pause together with a slow " +
      "database can make it lose its runs to another process; 2 to 5 are for tests.",
  },
  BECKON_DRAIN_SECONDS: {
    schema: whole(0, 3_600, 30),
    validValues: "0 to 3600 seconds",
    help: "Seconds that a stop waits for runs and requests in progress.",
  },
  BECKON_DRAIN_DELAY_SECONDS: {
    schema: whole(0, 600, 0),
    validValues: "0 to 600 seconds",
    help:
      "Seconds at the beginning of a stop in which `/readyz` answers 503 and requests are still " +
      "accepted. Behind a load balancer, longer than the interval of its health check times the " +
      "number of failed checks.",
  },
  OPENAI_API_KEY: {
    ...apiKey,
    help: "The operator's account as the providers `openai` and `openai-chat`, for `default`.",
  },
  OPENAI_BASE_URL: {
    ...apiRoot("https://api.openai.com/v1"),
    help: "Root of OpenAI's API, or of a proxy for it.",
  },
  ANTHROPIC_API_KEY: {
    ...apiKey,
    help: "The operator's account as the provider `anthropic`, for `default`.",
  },
  ANTHROPIC_BASE_URL: {
    ...apiRoot("https://api.anthropic.com/v1"),
    help: "Root of Anthropic's API, or of a proxy for it.",
  },
  GOOGLE_GENERATIVE_AI_API_KEY: {
    ...apiKey,
    help: "The operator's account as the provider `google`, for `default`.",
  },
  BECKON_SHARE_PROVIDERS: {
    ...flag("0"),
    help: "1: every workspace can use the operator's accounts, not only `default`.",
  },
  BECKON_DISCOVER: {
    ...flag("1"),
    help:
      "1: model servers on this machine (Ollama, LM Studio, llama.cpp, vLLM at their default " +
      "ports) become providers of `default`. 0: they do not.",
  },
  BECKON_PRICES: {
    schema: z.string().min(1).optional(),
    validValues: "the path of a JSON file with prices",
    help:
      "JSON file with the [operator's prices](money.md#prices-of-the-operator) of models. " +
      "It takes precedence over the price library.",
    unset: "no file",
  },
  BECKON_PLANS: {
    schema: z.string().min(1).optional(),
    validValues: "the path of a JSON file with plans",
    help:
      "JSON file with the [operator's plans](money.md#plans-of-the-operator): what workspaces can " +
      "use per month. All processes need the same file.",
    unset: "no file",
  },
  BECKON_EGRESS_ALLOW: {
    schema: z
      .string()
      .transform((list) => list.split(",").map(parseHostPort))
      .refine((entries) => !entries.includes(undefined))
      .transform((entries) => entries.filter((entry) => entry !== undefined))
      .default([]),
    validValues:
      "host:port, several separated by commas without spaces, " +
      "for example ollama:11434,10.0.0.5:8080,[fd00::5]:443",
    help:
      "Addresses that agents can call although they are not public: " +
      "a model server or an API of your own.",
    unset: "none",
  },
  BECKON_RETRY_SCHEDULE: {
    schema: z
      .string()
      .regex(/^0(,\d{1,6}(\.\d{1,3})?){0,19}$/)
      .transform((list) => list.split(",").map(Number))
      .default([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]),
    validValues:
      "1 to 20 numbers of seconds separated by commas without spaces, the first of them 0",
    help:
      "Seconds before each attempt of a delivery to a subscription, counted from the attempt " +
      "before it. Each delay varies by up to 10 %.",
  },
  BECKON_DELIVERY_TIMEOUT_SECONDS: {
    schema: whole(1, 60, 15),
    validValues: "1 to 60 seconds",
    help: "Seconds that the receiver of a delivery has to respond.",
  },
  BECKON_RETENTION_RUNS_DAYS: retention(
    1,
    30,
    "Days for which [runs are kept](operate.md#retention) after they ended, with their events and " +
      "artifacts. A workspace can choose a shorter time, of at least 7 days.",
  ),
  BECKON_RETENTION_IDEMPOTENCY_DAYS: retention(
    1,
    30,
    "Days for which an Idempotency-Key is recognized after its first use.",
  ),
  BECKON_RETENTION_DELIVERIES_DAYS: retention(
    1,
    30,
    "Days for which deliveries are kept after their event, with their attempts; at least a day after " +
      "they ended.",
  ),
  BECKON_RETENTION_REQUESTS_DAYS: retention(
    1,
    30,
    "Days for which the requests that triggers received are kept.",
  ),
  BECKON_RETENTION_SESSIONS_DAYS: retention(
    1,
    30,
    "Days for which sessions are kept after they expired.",
  ),
  BECKON_RETENTION_INVITATIONS_DAYS: retention(
    1,
    30,
    "Days for which invitations, and links for a new password, are kept after they expired.",
  ),
  BECKON_RETENTION_AUDIT_DAYS: retention(30, 365, "Days for which the audit log is kept."),
  BECKON_RETENTION_USAGE_DAYS: retention(
    62,
    0,
    "Days for which single entries of the usage ledger are kept. Their sums by day stay for ever.",
  ),
  BECKON_TRUST_PROXY: {
    schema: whole(0, 10, 0),
    validValues: "0 to 10 proxies",
    help:
      "Number of proxies before Beckon. 1: the last address in `X-Forwarded-For` is the caller's, " +
      "2: the last but one, and so on. Unless 0, `traceparent` is trusted, too. " +
      "Only if every request [passes all of them](install.md#tls-and-proxies).",
  },
  BECKON_TRUST_STORAGE: {
    ...flag("0"),
    help:
      "1: accept an external PostgreSQL with `fsync`, `full_page_writes` or " +
      "`synchronous_commit` off.",
  },
  BECKON_METRICS_PORT: {
    schema: z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .pipe(z.number().max(65_535))
      .optional(),
    validValues: "a port, 0 to 65535; leave it unset to have no metrics",
    help:
      "Port on which `GET /metrics` has [metrics for Prometheus](operate.md#metrics), " +
      "of all processes of this machine.",
    unset: "no metrics",
  },
  BECKON_METRICS_HOST: {
    schema: z.string().min(1).default("127.0.0.1"),
    validValues: "an address to listen on, for example 127.0.0.1 or 0.0.0.0",
    help: "Address of the metrics. They need no credential, so let only Prometheus reach it.",
  },
  ...traceVariables,
  LOG_LEVEL: {
    schema: z
      .string()
      .transform(parseLogLevels)
      .refine((levels) => levels !== undefined)
      .default({ others: "info", areas: {} }),
    validValues:
      `${logLevels.slice(0, -1).join(", ")} or ${logLevels.at(-1)}, and levels of areas, ` +
      `separated by commas without spaces: info,http=warn; the areas are ${logAreas.join(", ")}`,
    help:
      "Lowest level of the log lines on standard output, of all areas and of single ones. " +
      "[docs/operate.md](operate.md#logs) lists the lines.",
    unset: "info",
  },
  LOG_FORMAT: {
    schema: z.enum(["json", "pretty"]).optional(),
    validValues: "json or pretty",
    help: "`json`: one object per line. `pretty`: for people at a terminal.",
    unset: "pretty if standard output is a terminal, otherwise json",
  },
} as const satisfies Record<string, Setting>;

type Values = { [Name in keyof typeof settings]: z.infer<(typeof settings)[Name]["schema"]> };

/** A setting as `--help` and `docs/settings.md` show it. */
export interface SettingDescription {
  readonly name: string;
  readonly help: string;
  readonly validValues: string;
  /** The default value, or the effect of an unset value. */
  readonly fallback: string;
}

/** Describes all settings, for `--help` and `docs/settings.md`. */
export function describeSettings(): SettingDescription[] {
  return Object.entries<Setting>(settings).map(([name, { schema, help, validValues, unset }]) => {
    const fallback = unset ?? String(schema.safeParse(undefined).data ?? "none");
    return { name, help, validValues, fallback };
  });
}

/** Variables that the command line `beckon` or code samples read, and the server does not. */
const callerVariables = [
  "BECKON_URL",
  "BECKON_KEY",
  "BECKON_TRIGGER",
  "BECKON_TOKEN",
  "BECKON_TRIGGER_URL",
  "BECKON_COOKIE",
  "BECKON_PASSWORD",
  "BECKON_NEW_PASSWORD",
  "BECKON_LINK_TOKEN",
];

/**
 * Returns the variables that begin with `BECKON_` and that neither server, CLI nor code samples
 * read. Leaves out empty variables and those that Kubernetes or Docker inject.
 */
function unknownSettings(env: Readonly<Record<string, string | undefined>>) {
  return findUnknownSettings(env, Object.keys(settings)).filter(
    ({ name }) => !callerVariables.includes(name),
  );
}

/**
 * Returns a warning for each environment variable that begins with `BECKON_` but is not a setting.
 * There is no warning for probable typing errors, because `readConfig` rejects them, nor for
 * variables that Kubernetes or Docker inject.
 */
export function unknownSettingWarnings(
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  return unknownSettings(env)
    .filter(({ isTypo }) => !isTypo)
    .map(
      ({ name, nearest }) =>
        `${name} is not a setting and is ignored. The nearest setting is ${nearest}.`,
    );
}

/** Returns whether the metrics and the API have the same port, and addresses that can overlap. */
function haveSameAddress(values: Values): boolean {
  const hosts = [values.HOST, values.BECKON_METRICS_HOST];
  return (
    values.PORT > 0 &&
    values.PORT === values.BECKON_METRICS_PORT &&
    (hosts[0] === hosts[1] || hosts.includes("0.0.0.0") || hosts.includes("::"))
  );
}

/** Returns whether a key that is stored in the data folder is a valid value of the setting. */
export function isValidKey(
  setting: "BECKON_MASTER_KEY" | "BECKON_BOOTSTRAP_KEY",
  key: string,
): boolean {
  return settings[setting].schema.safeParse(key).success;
}

/**
 * Reads the settings. An empty value counts as unset, and so does one that Kubernetes injects: the
 * Service `beckon-metrics` sets BECKON_METRICS_PORT to a URL.
 * @throws ConfigError if a value is wrong, or if the name of a `BECKON_*` variable is probably a
 *   typing error. The message names all such settings and variables.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const ignored = areTracesOff(env) ? traceVariables : {};
  const read = Object.entries(settings).map(([name, { schema, validValues }]) => {
    const value = env[name] ?? "";
    const isUnset = value === "" || name in ignored || isInjected(name, value);
    const given = isUnset ? undefined : value;
    const result = schema.safeParse(given);
    if (!result.success) {
      const was = secret.has(name) ? `${given?.length ?? 0} characters` : JSON.stringify(given);
      problems.push(`${name} was ${was}; it must be ${validValues}.`);
    }
    return [name, result.data];
  });
  const values = Object.fromEntries(read) as Values;
  for (const { name, nearest, isTypo } of unknownSettings(env)) {
    if (isTypo) problems.push(`${name} is not a setting. Did you mean ${nearest}?`);
  }
  if (values.DATABASE_URL !== undefined && values.BECKON_MASTER_KEY === undefined) {
    problems.push(
      "BECKON_MASTER_KEY is required with DATABASE_URL, so that every machine encrypts with the " +
        `same key; it must be ${masterKey.validValues}.`,
    );
  }
  if (haveSameAddress(values)) {
    problems.push(
      `BECKON_METRICS_PORT and PORT are both ${values.PORT}; choose another port for the metrics.`,
    );
  }
  const traces = readTraceSettings(values, (problem) => problems.push(problem));
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze({
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL,
    trustedProxies: values.BECKON_TRUST_PROXY,
    databaseUrl: values.DATABASE_URL,
    trustStorage: values.BECKON_TRUST_STORAGE === "1",
    dataDir: resolve(values.BECKON_DATA_DIR),
    masterKey: values.BECKON_MASTER_KEY,
    previousMasterKey: values.BECKON_MASTER_KEY_PREVIOUS,
    masterKeyLost: values.BECKON_MASTER_KEY_LOST === "1",
    bootstrapKey: values.BECKON_BOOTSTRAP_KEY,
    setupLink: values.BECKON_SETUP_LINK === "1",
    role: values.BECKON_ROLE,
    processes: values.BECKON_PROCESSES,
    leaseSeconds: values.BECKON_LEASE_SECONDS,
    drainSeconds: values.BECKON_DRAIN_SECONDS,
    drainDelaySeconds: values.BECKON_DRAIN_DELAY_SECONDS,
    maxRuns: values.BECKON_MAX_RUNS,
    memoryBudgetMib: values.BECKON_MEMORY_BUDGET_MIB,
    poolSize: values.BECKON_POOL_SIZE,
    egressAllow: values.BECKON_EGRESS_ALLOW,
    accounts: {
      openai: { baseUrl: values.OPENAI_BASE_URL, apiKey: values.OPENAI_API_KEY },
      anthropic: { baseUrl: values.ANTHROPIC_BASE_URL, apiKey: values.ANTHROPIC_API_KEY },
      google: { baseUrl: undefined, apiKey: values.GOOGLE_GENERATIVE_AI_API_KEY },
    },
    shareProviders: values.BECKON_SHARE_PROVIDERS === "1",
    discover: values.BECKON_DISCOVER === "1",
    pricesFile: values.BECKON_PRICES === undefined ? undefined : resolve(values.BECKON_PRICES),
    plansFile: values.BECKON_PLANS === undefined ? undefined : resolve(values.BECKON_PLANS),
    retrySchedule: values.BECKON_RETRY_SCHEDULE,
    deliveryTimeoutSeconds: values.BECKON_DELIVERY_TIMEOUT_SECONDS,
    retention: Object.freeze({
      runsDays: values.BECKON_RETENTION_RUNS_DAYS,
      idempotencyDays: values.BECKON_RETENTION_IDEMPOTENCY_DAYS,
      deliveriesDays: values.BECKON_RETENTION_DELIVERIES_DAYS,
      requestsDays: values.BECKON_RETENTION_REQUESTS_DAYS,
      sessionsDays: values.BECKON_RETENTION_SESSIONS_DAYS,
      invitationsDays: values.BECKON_RETENTION_INVITATIONS_DAYS,
      auditDays: values.BECKON_RETENTION_AUDIT_DAYS,
      usageDays: values.BECKON_RETENTION_USAGE_DAYS,
    }),
    metricsPort: values.BECKON_METRICS_PORT,
    metricsHost: values.BECKON_METRICS_HOST,
    traces,
    logLevels: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
  });
}
