import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "./base/errors.ts";
import { automaticProcesses } from "./base/machine/index.ts";
import { readConfig, unknownSettingWarnings } from "./config.ts";

function errorOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.message;
    throw thrown;
  }
  throw new Error(`it was accepted: ${JSON.stringify(env)}`);
}

const key = randomBytes(32);

test("without any setting Beckon listens on this machine only, with PostgreSQL inside", () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    host: "127.0.0.1",
    publicUrl: undefined,
    trustedProxies: 0,
    databaseUrl: undefined,
    trustStorage: false,
    dataDir: resolve("data"),
    masterKey: undefined,
    previousMasterKey: undefined,
    masterKeyLost: false,
    bootstrapKey: undefined,
    setupLink: true,
    role: "all",
    processes: 1,
    leaseSeconds: 30,
    drainSeconds: 30,
    drainDelaySeconds: 0,
    maxRuns: 2_000,
    poolSize: 10,
    egressAllow: [],
    accounts: {
      openai: { baseUrl: undefined, apiKey: undefined },
      anthropic: { baseUrl: undefined, apiKey: undefined },
      google: { baseUrl: undefined, apiKey: undefined },
    },
    shareProviders: false,
    discover: true,
    retrySchedule: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    deliveryTimeoutSeconds: 15,
    retention: {
      runsDays: 30,
      idempotencyDays: 30,
      deliveriesDays: 30,
      requestsDays: 30,
      sessionsDays: 30,
      invitationsDays: 30,
      auditDays: 365,
      usageDays: 0,
    },
    logLevels: { others: "info", areas: {} },
    logFormat: undefined,
    metricsPort: undefined,
    metricsHost: "127.0.0.1",
  });
});

test("an empty value counts as unset, and variables without our prefix are ignored", () => {
  expect(readConfig({ PORT: "", BECKON_MASTER_KEY: "", DATABASE_URL: "", PATH: "/bin" })).toEqual(
    readConfig({}),
  );
});

test.each(["tcp", "udp", "sctp"])(
  "a port of metrics that Kubernetes injects for a Service beckon-metrics (%s) counts as unset",
  (protocol) => {
    const env = {
      BECKON_METRICS_PORT: `${protocol}://10.0.0.11:9464`,
      BECKON_METRICS_SERVICE_HOST: "10.0.0.11",
    };
    expect(readConfig(env)).toEqual(readConfig({}));
    expect(unknownSettingWarnings(env)).toEqual([]);
  },
);

const levels =
  "fatal, error, warn, info, debug, trace or silent, and levels of areas, separated by commas " +
  "without spaces: info,http=warn; the areas are process, database, http, auth, runs, triggers, " +
  "models, deliveries, limits";

test("the settings are frozen", () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true);
});

test.each([
  ["PORT", "0", "port", 0],
  ["PORT", "65535", "port", 65_535],
  ["HOST", "::", "host", "::"],
  ["PUBLIC_URL", "https://agents.example.com/", "publicUrl", "https://agents.example.com"],
  ["PUBLIC_URL", "http://10.0.0.1:8080/beckon//", "publicUrl", "http://10.0.0.1:8080/beckon"],
  ["PUBLIC_URL", "HTTPS://Agents.example.com:443", "publicUrl", "https://agents.example.com"],
  ["PUBLIC_URL", "HTTP://bücher.example/A/", "publicUrl", "http://xn--bcher-kva.example/A"],
  ["BECKON_DATA_DIR", "/var/lib/beckon", "dataDir", "/var/lib/beckon"],
  ["BECKON_MASTER_KEY", key.toString("hex"), "masterKey", key.toString("hex")],
  ["BECKON_MASTER_KEY", key.toString("base64"), "masterKey", key.toString("base64")],
  ["BECKON_MASTER_KEY_PREVIOUS", key.toString("hex"), "previousMasterKey", key.toString("hex")],
  ["BECKON_MASTER_KEY_LOST", "1", "masterKeyLost", true],
  ["BECKON_BOOTSTRAP_KEY", "x".repeat(32), "bootstrapKey", "x".repeat(32)],
  ["BECKON_BOOTSTRAP_KEY", "~!".repeat(64), "bootstrapKey", "~!".repeat(64)],
  ["BECKON_SETUP_LINK", "0", "setupLink", false],
  ["BECKON_ROLE", "worker", "role", "worker"],
  ["BECKON_PROCESSES", "64", "processes", 64],
  ["BECKON_PROCESSES", "auto", "processes", automaticProcesses()],
  ["BECKON_LEASE_SECONDS", "2", "leaseSeconds", 2],
  ["BECKON_DRAIN_SECONDS", "0", "drainSeconds", 0],
  ["BECKON_DRAIN_DELAY_SECONDS", "10", "drainDelaySeconds", 10],
  ["BECKON_MAX_RUNS", "1", "maxRuns", 1],
  ["BECKON_POOL_SIZE", "4", "poolSize", 4],
  [
    "BECKON_EGRESS_ALLOW",
    "Ollama:11434,10.0.0.5:8080,[FD00:0::5]:443",
    "egressAllow",
    ["ollama:11434", "10.0.0.5:8080", "[fd00::5]:443"],
  ],
  ["BECKON_PRICES", "/etc/beckon/prices.json", "pricesFile", "/etc/beckon/prices.json"],
  ["BECKON_PRICES", "prices.json", "pricesFile", resolve("prices.json")],
  ["BECKON_PRICES", "", "pricesFile", undefined],
  ["BECKON_TRUST_PROXY", "10", "trustedProxies", 10],
  ["BECKON_TRUST_STORAGE", "0", "trustStorage", false],
  ["LOG_LEVEL", "debug", "logLevels", { others: "debug", areas: {} }],
  [
    "LOG_LEVEL",
    "warn,http=trace,runs=silent",
    "logLevels",
    { others: "warn", areas: { http: "trace", runs: "silent" } },
  ],
  ["LOG_LEVEL", "auth=debug", "logLevels", { others: "info", areas: { auth: "debug" } }],
  ["LOG_FORMAT", "pretty", "logFormat", "pretty"],
  ["BECKON_METRICS_PORT", "9464", "metricsPort", 9464],
  ["BECKON_METRICS_HOST", "0.0.0.0", "metricsHost", "0.0.0.0"],
])("%s can be %s", (name, value, member, expected) => {
  expect(readConfig({ [name]: value })).toHaveProperty(member, expected);
});

test.each([
  ["PORT", "70000", "a port, 0 to 65535"],
  ["PORT", "-1", "a port, 0 to 65535"],
  ["PORT", "http", "a port, 0 to 65535"],
  ["PORT", " 3000", "a port, 0 to 65535"],
  ["PORT", "3e3", "a port, 0 to 65535"],
  [
    "PUBLIC_URL",
    "agents.example.com",
    "an http or https URL without a query, for example https://agents.example.com",
  ],
  [
    "PUBLIC_URL",
    "ftp://agents.example.com",
    "an http or https URL without a query, for example https://agents.example.com",
  ],
  [
    "PUBLIC_URL",
    "https://agents.example.com/?a=b",
    "an http or https URL without a query, for example https://agents.example.com",
  ],
  [
    "PUBLIC_URL",
    "https://user:password@agents.example.com",
    "an http or https URL without a query, for example https://agents.example.com",
  ],
  ["BECKON_ROLE", "both", "all, api or worker"],
  ["BECKON_PROCESSES", "0", "1 to 64, or auto"],
  ["BECKON_PROCESSES", "automatic", "1 to 64, or auto"],
  ["BECKON_LEASE_SECONDS", "1", "2 to 600 seconds"],
  ["BECKON_RETENTION_RUNS_DAYS", "-1", "0 or 1 to 3650 days"],
  ["BECKON_RETENTION_AUDIT_DAYS", "29", "0 or 30 to 3650 days"],
  ["BECKON_RETENTION_USAGE_DAYS", "61", "0 or 62 to 3650 days"],
  ["BECKON_DRAIN_SECONDS", "3601", "0 to 3600 seconds"],
  ["BECKON_MAX_RUNS", "0", "1 to 100000"],
  ["BECKON_POOL_SIZE", "3", "4 to 200 connections"],
  [
    "BECKON_EGRESS_ALLOW",
    "ollama",
    "host:port, several separated by commas without spaces, for example ollama:11434,10.0.0.5:8080,[fd00::5]:443",
  ],
  [
    "BECKON_EGRESS_ALLOW",
    "ollama:11434,",
    "host:port, several separated by commas without spaces, for example ollama:11434,10.0.0.5:8080,[fd00::5]:443",
  ],
  [
    "BECKON_EGRESS_ALLOW",
    "ollama:11434, 10.0.0.5:8080",
    "host:port, several separated by commas without spaces, for example ollama:11434,10.0.0.5:8080,[fd00::5]:443",
  ],
  ["BECKON_TRUST_PROXY", "11", "0 to 10 proxies"],
  ["BECKON_TRUST_STORAGE", "true", "0 or 1"],
  ...["verbose", "info,", "info,warn", "html=warn", "http=warn,http=info", "http=warn=info"].map(
    (wrong): [string, string, string] => ["LOG_LEVEL", wrong, levels],
  ),
  ["LOG_FORMAT", "xml", "json or pretty"],
  ["BECKON_METRICS_PORT", "65536", "a port, 0 to 65535; leave it unset to have no metrics"],
])(
  "%s cannot be %s: the error names the setting, what it was and what it must be",
  (name, value, validValues) => {
    expect(errorOf({ [name]: value })).toBe(
      `${name} was ${JSON.stringify(value)}; it must be ${validValues}.`,
    );
  },
);

test.each([
  [
    "BECKON_MASTER_KEY",
    "hunter2",
    "32 random bytes as 64 hex digits or as base64, for example from: openssl rand -base64 32",
  ],
  [
    "BECKON_MASTER_KEY",
    `${key.toString("base64")}\n`,
    "32 random bytes as 64 hex digits or as base64, for example from: openssl rand -base64 32",
  ],
  [
    "BECKON_BOOTSTRAP_KEY",
    "too-short",
    "32 to 128 printable ASCII characters without spaces, not beginning with bka_, bkt_ or bkw_",
  ],
  [
    "BECKON_BOOTSTRAP_KEY",
    `bkw_${"x".repeat(48)}`,
    "32 to 128 printable ASCII characters without spaces, not beginning with bka_, bkt_ or bkw_",
  ],
  [
    "BECKON_BOOTSTRAP_KEY",
    "with a space in the middle of the key",
    "32 to 128 printable ASCII characters without spaces, not beginning with bka_, bkt_ or bkw_",
  ],
  [
    "DATABASE_URL",
    "mysql://user:password@host/db",
    "a postgresql:// URL; leave it unset to run PostgreSQL inside",
  ],
  [
    "OPENAI_BASE_URL",
    "https://user:password@gateway.example.com/v1",
    "an http or https URL without a query: the root of the API, for example " +
      "https://api.openai.com/v1",
  ],
  [
    "ANTHROPIC_BASE_URL",
    "https://gateway.example.com/v1?key=secret",
    "an http or https URL without a query: the root of the API, for example " +
      "https://api.anthropic.com/v1",
  ],
])(
  "%s is a secret: the message shows only the length of a wrong one",
  (name, value, validValues) => {
    const message = errorOf({ [name]: value });
    expect(message).toBe(`${name} was ${value.length} characters; it must be ${validValues}.`);
    expect(message).not.toContain(value);
  },
);

test("with DATABASE_URL the master key is required", () => {
  expect(errorOf({ DATABASE_URL: "postgres://db/beckon" })).toMatch(
    /^BECKON_MASTER_KEY is required with DATABASE_URL.*openssl rand -base64 32\.$/,
  );
  expect(
    readConfig({ DATABASE_URL: "postgres://db/beckon", BECKON_MASTER_KEY: key.toString("hex") })
      .databaseUrl,
  ).toBe("postgres://db/beckon");
});

test("the metrics cannot have the port of the API, except on an address of their own", () => {
  const ports = { PORT: "3000", BECKON_METRICS_PORT: "3000" };
  const problem =
    "BECKON_METRICS_PORT and PORT are both 3000; choose another port for the metrics.";
  expect(errorOf(ports)).toBe(problem);
  expect(errorOf({ BECKON_METRICS_PORT: "3000" })).toBe(problem);
  expect(errorOf({ ...ports, HOST: "0.0.0.0" })).toBe(problem);
  expect(errorOf({ ...ports, BECKON_METRICS_HOST: "::" })).toBe(problem);
  expect(readConfig({ ...ports, HOST: "10.0.0.5" }).metricsPort).toBe(3000);
  expect(readConfig({ PORT: "0", BECKON_METRICS_PORT: "0" }).metricsPort).toBe(0);
});

test("a name that is probably a typing error is rejected, and any other unknown name is a warning", () => {
  const env = {
    BECKON_PROCESES: "2",
    BECKON_MASTER_KEY_FILE: "/run/key",
    BECKON_SERVICE_HOST: "x",
  };
  expect(errorOf(env)).toBe("BECKON_PROCESES is not a setting. Did you mean BECKON_PROCESSES?");
  expect(unknownSettingWarnings(env)).toEqual([
    "BECKON_MASTER_KEY_FILE is not a setting and is ignored. The nearest setting is BECKON_MASTER_KEY.",
  ]);
});

test("everything that is wrong is reported at once, one line each", () => {
  expect(errorOf({ PORT: "x", LOG_LEVEL: "x", BECKON_ROLE: "x" }).split("\n")).toHaveLength(3);
});

test("variables of the command line and of code samples are neither settings nor unknown", () => {
  const env = {
    BECKON_URL: "http://x",
    BECKON_KEY: "x",
    BECKON_TRIGGER: "x",
    BECKON_TOKEN: "x",
    BECKON_TRIGGER_URL: "http://x",
    BECKON_COOKIE: "x",
    BECKON_PASSWORD: "x",
    BECKON_NEW_PASSWORD: "x",
    BECKON_LINK_TOKEN: "x",
  };
  expect(unknownSettingWarnings(env)).toEqual([]);
  expect(() => readConfig(env)).not.toThrow();
});
