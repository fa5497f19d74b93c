import { execFile } from "node:child_process";
import { access, constants, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { dataFolderRemedy } from "../base/database/embedded/index.ts";
import { ConfigError, messageOf } from "../base/errors.ts";
import { exitCodes } from "../base/exit-codes.ts";
import { listenError } from "../base/listen-error.ts";
import { memoryBudget } from "../base/machine/index.ts";
import { type Config, readConfig, unknownSettingWarnings } from "../config.ts";
import { readOperatorPlans } from "../limits/index.ts";
import { readOperatorPrices } from "../prices/index.ts";
import { metricsSettings, requireSharedPort, serverExecArgv } from "../supervisor/index.ts";
import { type Finding, ok, problem, splitMessage, warning } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const allSettings = "docs/settings.md lists all settings, and so does: beckon start --help";

/** Reads the settings. The configuration is undefined if one of them is wrong. */
export function checkSettings(env: Environment): {
  readonly config: Config | undefined;
  readonly findings: readonly Finding[];
} {
  const unknown = unknownSettingWarnings(env).map((text) => {
    const { message, remedy } = splitMessage(text, "");
    return warning("configuration", message, `Correct or remove it. ${remedy}`.trim());
  });
  try {
    const config = readConfig(env);
    return { config, findings: [...unknown, ok("configuration", "All settings are valid.")] };
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    const problems = thrown.message.split("\n").map((line) => {
      const parts = splitMessage(line, `Correct it. ${allSettings}.`);
      return problem("configuration", parts, exitCodes.invalidConfiguration);
    });
    return { config: undefined, findings: [...unknown, ...problems] };
  }
}

/** Checks what the settings refer to: files, Node.js, the data folder, addresses to listen on. */
export async function checkSurroundings(config: Config, env: Environment): Promise<Finding[]> {
  return [
    ...(await checkValues(config, env)),
    ...(await checkDataFolder(config)),
    ...(await checkAddresses(config)),
    ...checkPublicUrl(config),
    ...checkPublicPath(config),
  ];
}

/** Repeats those checks of a startup that read files or depend on Node.js. */
async function checkValues(config: Config, env: Environment): Promise<Finding[]> {
  const { pricesFile, plansFile, processes, memoryBudgetMib } = config;
  const checks = [
    () => readOperatorPrices(pricesFile),
    () => readOperatorPlans(plansFile),
    () => {
      if (processes > 1) requireSharedPort();
    },
    async () => {
      if (memoryBudgetMib !== undefined)
        memoryBudget(memoryBudgetMib, await heapLimitBytes(processes, env));
    },
  ];
  const findings: Finding[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (thrown) {
      findings.push(toFinding(thrown));
    }
  }
  return findings;
}

/** Returns the finding for an error of `checkValues`. */
function toFinding(thrown: unknown): Finding {
  // Any other error, for example of the process that `heapLimitBytes` starts, does not show that a
  // setting is wrong. It is only a warning, because a startup can still succeed.
  if (!(thrown instanceof ConfigError))
    return warning(
      "configuration",
      `A setting could not be checked: ${messageOf(thrown)}.`,
      "Run beckon doctor again.",
    );
  const parts = splitMessage(thrown.message, "Correct the setting or its file.");
  return problem("configuration", parts, exitCodes.invalidConfiguration);
}

/**
 * Returns the heap limit of a server. V8 calculates it from several flags, so this starts Node.js
 * with the flags of a server.
 * @throws Error if Node.js fails or does not respond within 10 seconds.
 */
async function heapLimitBytes(processes: number, env: Environment): Promise<number> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...serverExecArgv(processes, env.NODE_OPTIONS),
      "--print",
      "v8.getHeapStatistics().heap_size_limit",
    ],
    { env, timeout: 10_000 },
  );
  return Number(stdout);
}

/** Free space below which PostgreSQL soon cannot write. */
const minFreeMib = 1_024;

async function checkDataFolder({ dataDir, databaseUrl }: Config): Promise<Finding[]> {
  // With an external database, only the demo agent's secrets are written to the data folder, and
  // startup succeeds even if that fails.
  if (databaseUrl !== undefined) return [];
  try {
    const folder = await nearestFolder(dataDir);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    const freeMib = Math.floor((bavail * bsize) / 1024 ** 2);
    const what = folder === dataDir ? "can be written" : "does not exist yet and can be created";
    if (freeMib < minFreeMib) {
      return [
        warning(
          "configuration",
          `The data folder ${dataDir} has only ${freeMib} MiB of free space.`,
          "Free space on its disk, or set BECKON_DATA_DIR to a folder on another one.",
        ),
      ];
    }
    return [ok("configuration", `The data folder ${dataDir} ${what}; ${freeMib} MiB are free.`)];
  } catch (thrown) {
    return [
      problem(
        "configuration",
        {
          message: `The data folder ${dataDir} cannot be used: ${messageOf(thrown)}.`,
          remedy: dataFolderRemedy(thrown),
        },
        1,
      ),
    ];
  }
}

/** Returns the folder itself if it exists, else its nearest parent that exists. */
async function nearestFolder(path: string): Promise<string> {
  try {
    await access(path);
    return path;
  } catch (thrown) {
    const isMissing = thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
    if (!isMissing || dirname(path) === path) throw thrown;
    return nearestFolder(dirname(path));
  }
}

/** An address on which Beckon listens. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The names of the settings that contain host and port. */
  readonly settings: { readonly host: string; readonly port: string };
  /** Added to the address in messages. */
  readonly purpose: string;
  /** A path that Beckon serves at this address, and a text by which its response is recognized. */
  readonly path: string;
  readonly part: string;
  /**
   * A text by which a Beckon that is not ready is recognized: its response to `path` then has the
   * status 503 and contains this text. undefined if `path` has no such response.
   */
  readonly partIfNotReady?: string;
}

/**
 * Checks for each of Beckon's addresses that it is free, or that a running Beckon already uses it.
 */
async function checkAddresses(config: Config): Promise<Finding[]> {
  const { host, port, metricsHost, metricsPort } = config;
  const addresses: ListenAddress[] = [
    {
      ...{ host, port, purpose: "", path: "/readyz" },
      ...{ part: '"ok":true', partIfNotReady: '"ok":false' },
      settings: { host: "HOST", port: "PORT" },
    },
  ];
  if (metricsPort !== undefined)
    addresses.push({
      ...{ host: metricsHost, port: metricsPort, purpose: " for metrics" },
      ...{ path: "/metrics", part: "beckon_" },
      settings: metricsSettings,
    });
  const findings: Finding[] = [];
  // The sockets stay open until all are checked, which finds two settings with the same address.
  const opened = new AsyncDisposableStack();
  try {
    for (const address of addresses) findings.push(await checkAddress(address, opened));
  } finally {
    await opened.disposeAsync();
  }
  return findings;
}

async function checkAddress(
  address: ListenAddress,
  opened: AsyncDisposableStack,
): Promise<Finding> {
  const { host, port, settings, purpose } = address;
  const server = opened.use(createServer((socket) => socket.destroy()));
  const failure = await new Promise<unknown>((resolve) => {
    server.once("error", resolve);
    server.listen({ host, port }, () => resolve(undefined));
  });
  const where = `${host}:${port}${purpose}`;
  if (failure === undefined) return ok("configuration", `Beckon can listen on ${where}.`);
  const found = port === 0 ? undefined : await findBeckon(address);
  if (found === "ready") return ok("configuration", `Beckon is running on ${where} and is ready.`);
  if (found === "not ready")
    return warning(
      "configuration",
      `Beckon is running on ${where} and is not ready.`,
      "See the other findings and its log: its database may not respond, its memory may be full, " +
        "or it is stopping.",
    );
  const remedy = `Set ${settings.host} and ${settings.port}.`;
  const { message, exitCode } = listenError(failure, { host, port }, settings);
  return problem("configuration", splitMessage(message, remedy), exitCode);
}

const responseTimeoutMs = 3_000;

/**
 * Returns the state of the Beckon that listens on an address; undefined if it is another program.
 */
async function findBeckon({
  host,
  port,
  path,
  part,
  partIfNotReady,
}: ListenAddress): Promise<"ready" | "not ready" | undefined> {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : hostInUrl(host);
  try {
    const response = await fetch(`http://${name}:${port}${path}`, {
      signal: AbortSignal.timeout(responseTimeoutMs),
      redirect: "manual",
    });
    const text = await response.text();
    if (response.ok) return text.includes(part) ? "ready" : undefined;
    const isNotReady = partIfNotReady !== undefined && text.includes(partIfNotReady);
    return response.status === 503 && isNotReady ? "not ready" : undefined;
  } catch {
    return undefined;
  }
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function checkPublicUrl({ host, publicUrl, trustedProxies }: Config): Finding[] {
  const isLocal = /^(127\.|localhost$|::1$)/.test(host);
  if (publicUrl === undefined && !isLocal) {
    return [
      warning(
        "configuration",
        `HOST is ${host} and PUBLIC_URL is not set, so links and trigger URLs name this machine ` +
          "by a loopback address or by HOST.",
        "Set PUBLIC_URL to the address that callers use, for example https://agents.example.com.",
      ),
    ];
  }
  if (publicUrl?.startsWith("https:") && trustedProxies === 0) {
    return [
      warning(
        "configuration",
        "PUBLIC_URL is https, so a proxy terminates TLS, but BECKON_TRUST_PROXY is 0. All " +
          "callers then have the proxy's IP address.",
        "Set BECKON_TRUST_PROXY to the number of proxies if they set X-Forwarded-For themselves.",
      ),
    ];
  }
  if (publicUrl?.startsWith("http:") && !isLocal) {
    return [
      warning(
        "configuration",
        "PUBLIC_URL is http, so keys, tokens and cookies are sent unencrypted.",
        "Put a proxy with TLS before Beckon and set PUBLIC_URL to its https address.",
      ),
    ];
  }
  return [];
}

function checkPublicPath({ publicUrl }: Config): Finding[] {
  const path = publicUrl === undefined ? "/" : new URL(publicUrl).pathname;
  if (path === "/") return [];
  return [
    warning(
      "configuration",
      `PUBLIC_URL has the path ${path}, with which the dashboard and its links do not work.`,
      "Set PUBLIC_URL without a path, for example to a host name of Beckon's own. If you use only " +
        "the API, the proxy must remove the path.",
    ),
  ];
}
