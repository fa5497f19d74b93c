import { resolve } from "node:path";
import { z } from "zod";
import { ConfigError } from "./base/errors.ts";
import { parseHostPort } from "./base/host-port.ts";

/** The process's settings, read once and frozen. Nothing else in the server reads the environment. */
export interface Config {
  /** TCP port; 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  /** Address that callers use, without a trailing slash; undefined: `http://host:port`. */
  readonly publicUrl: string | undefined;
  /** Whether `X-Forwarded-For` names the caller: only behind a proxy that sets it. */
  readonly trustProxy: boolean;
  /** undefined: PostgreSQL runs inside, in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Accept an external server whose `fsync`, `full_page_writes` or `synchronous_commit` is off. */
  readonly trustStorage: boolean;
  /** Absolute path. */
  readonly dataDir: string;
  /** 32 bytes, base64 or hex; undefined: kept in the data folder. */
  readonly masterKey: string | undefined;
  /** The master key before this one: what it sealed is sealed anew at the start. */
  readonly previousMasterKey: string | undefined;
  /** The start goes on without what an earlier master key has sealed. */
  readonly masterKeyLost: boolean;
  /** 32 to 128 characters; undefined: kept in the data folder when PostgreSQL runs inside, else no bootstrap key. */
  readonly bootstrapKey: string | undefined;
  /** `api` answers callers, `worker` executes queued runs, `all` does both. */
  readonly role: "all" | "api" | "worker";
  /** Server processes that the supervisor keeps running. */
  readonly processes: number;
  readonly leaseSeconds: number;
  readonly drainSeconds: number;
  /** Runs executing at once in one process; further ones wait in the queue. */
  readonly maxRuns: number;
  /**
   * MiB that one process may hold for all workspaces: `ByteBudget`; undefined: half of its heap's
   * limit.
   */
  readonly memoryBudgetMib: number | undefined;
  /** PostgreSQL connections of one process, beside the lease's own. */
  readonly poolSize: number;
  /** What agents may call although it is not public, each `host:port` as `parseHostPort` writes it. */
  readonly egressAllow: readonly string[];
  /** Accounts of the operator's at providers of models. */
  readonly accounts: {
    readonly openai: { readonly baseUrl: string | undefined; readonly apiKey: string | undefined };
    readonly anthropic: {
      readonly baseUrl: string | undefined;
      readonly apiKey: string | undefined;
    };
    readonly google: { readonly baseUrl: undefined; readonly apiKey: string | undefined };
  };
  /** Whether all workspaces can use these accounts, and not only `default`. */
  readonly shareProviders: boolean;
  /**
   * Whether model servers on this machine (Ollama, LM Studio, llama.cpp, vLLM at their default
   * ports) become providers of the workspace `default`.
   */
  readonly discover: boolean;
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
}

const secret = new Set([
  "BECKON_MASTER_KEY",
  "BECKON_MASTER_KEY_PREVIOUS",
  "BECKON_BOOTSTRAP_KEY",
  "DATABASE_URL",
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
]);

const apiKey = {
  schema: z
    .string()
    .regex(/^[\x21-\x7e]{1,4000}$/)
    .optional(),
  may: "a key as the provider gave it out, without spaces",
};

const masterKey = {
  schema: z
    .union([z.string().regex(/^[0-9a-fA-F]{64}$/), z.string().regex(/^[A-Za-z0-9+/]{43}=?$/)])
    .optional(),
  may: "32 random bytes as 64 hex digits or as base64, for example from: openssl rand -base64 32",
};

const flag = z.enum(["0", "1"]).default("0");
const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback);

/** Without an ending slash; the library adds the rest of each path. */
const apiRoot = (example: string) => ({
  schema: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^?#@]*$/)
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  may: `an http or https URL without a query: the root of the API, for example ${example}`,
});

/** What each setting may be; the text stands in the error when it is not. */
const settings = {
  PORT: { schema: whole(0, 65_535, 3000), may: "a port, 0 to 65535" },
  HOST: {
    schema: z.string().min(1).default("127.0.0.1"),
    may: "an address to listen on, for example 127.0.0.1 or 0.0.0.0",
  },
  PUBLIC_URL: {
    schema: z
      .url({ protocol: /^https?$/ })
      .regex(/^[^?#@]*$/)
      .transform((url) => url.replace(/\/+$/, ""))
      .optional(),
    may: "an http or https URL without a query, for example https://agents.example.com",
  },
  DATABASE_URL: {
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//)
      .optional(),
    may: "a postgresql:// URL; leave it unset to run PostgreSQL inside",
  },
  BECKON_DATA_DIR: { schema: z.string().min(1).default("./data"), may: "a folder" },
  BECKON_MASTER_KEY: masterKey,
  BECKON_MASTER_KEY_PREVIOUS: {
    ...masterKey,
    may: "the master key before this one, 32 bytes as 64 hex digits or as base64",
  },
  BECKON_MASTER_KEY_LOST: { schema: flag, may: "0 or 1" },
  BECKON_BOOTSTRAP_KEY: {
    schema: z
      .string()
      .regex(/^(?!bka_|bkt_|bkw_)[\x21-\x7e]{32,128}$/)
      .optional(),
    may: "32 to 128 printable ASCII characters without spaces, not beginning with bka_, bkt_ or bkw_",
  },
  BECKON_ROLE: {
    schema: z.enum(["all", "api", "worker"]).default("all"),
    may: "all, api or worker",
  },
  BECKON_PROCESSES: { schema: whole(1, 64, 1), may: "1 to 64" },
  BECKON_LEASE_SECONDS: { schema: whole(2, 600, 30), may: "2 to 600 seconds" },
  BECKON_DRAIN_SECONDS: { schema: whole(0, 3_600, 30), may: "0 to 3600 seconds" },
  BECKON_MAX_RUNS: { schema: whole(1, 100_000, 2_000), may: "1 to 100000" },
  BECKON_MEMORY_BUDGET_MIB: {
    schema: z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number)
      .pipe(z.number().min(96).max(1_048_576))
      .optional(),
    may: "96 to 1048576 MiB; leave it unset for half of the heap's limit",
  },
  BECKON_POOL_SIZE: { schema: whole(4, 200, 10), may: "4 to 200 connections" },
  BECKON_EGRESS_ALLOW: {
    schema: z
      .string()
      .transform((list) => list.split(",").map(parseHostPort))
      .refine((entries) => !entries.includes(undefined))
      .transform((entries) => entries.filter((entry) => entry !== undefined))
      .default([]),
    may: "host:port, several separated by commas without spaces, for example ollama:11434,10.0.0.5:8080,[fd00::5]:443",
  },
  BECKON_TRUST_PROXY: { schema: flag, may: "0 or 1" },
  BECKON_TRUST_STORAGE: { schema: flag, may: "0 or 1" },
  OPENAI_API_KEY: apiKey,
  OPENAI_BASE_URL: apiRoot("https://api.openai.com/v1"),
  ANTHROPIC_API_KEY: apiKey,
  ANTHROPIC_BASE_URL: apiRoot("https://api.anthropic.com/v1"),
  GOOGLE_GENERATIVE_AI_API_KEY: apiKey,
  BECKON_SHARE_PROVIDERS: { schema: flag, may: "0 or 1" },
  BECKON_DISCOVER: { schema: z.enum(["0", "1"]).default("1"), may: "0 or 1" },
  LOG_LEVEL: {
    schema: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
    may: "fatal, error, warn, info, debug, trace or silent",
  },
} as const;

type Values = { [Name in keyof typeof settings]: z.infer<(typeof settings)[Name]["schema"]> };

/**
 * Reads the settings. An empty value counts as unset.
 * @throws ConfigError naming every setting that is wrong.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const read = Object.entries(settings).map(([name, { schema, may }]) => {
    const given = env[name] === "" ? undefined : env[name];
    const result = schema.safeParse(given);
    if (!result.success) {
      const was = secret.has(name) ? `${given?.length ?? 0} characters` : JSON.stringify(given);
      problems.push(`${name} was ${was}; it must be ${may}.`);
    }
    return [name, result.data];
  });
  const values = Object.fromEntries(read) as Values;
  if (values.DATABASE_URL !== undefined && values.BECKON_MASTER_KEY === undefined) {
    problems.push(
      `BECKON_MASTER_KEY is required with DATABASE_URL, so that every machine seals with the same key; it must be ${masterKey.may}.`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze({
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL,
    trustProxy: values.BECKON_TRUST_PROXY === "1",
    databaseUrl: values.DATABASE_URL,
    trustStorage: values.BECKON_TRUST_STORAGE === "1",
    dataDir: resolve(values.BECKON_DATA_DIR),
    masterKey: values.BECKON_MASTER_KEY,
    previousMasterKey: values.BECKON_MASTER_KEY_PREVIOUS,
    masterKeyLost: values.BECKON_MASTER_KEY_LOST === "1",
    bootstrapKey: values.BECKON_BOOTSTRAP_KEY,
    role: values.BECKON_ROLE,
    processes: values.BECKON_PROCESSES,
    leaseSeconds: values.BECKON_LEASE_SECONDS,
    drainSeconds: values.BECKON_DRAIN_SECONDS,
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
    logLevel: values.LOG_LEVEL,
  });
}
