import { access, constants, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { ConfigError, messageOf } from "../base/errors.ts";
import { exitCodes } from "../base/exit-codes.ts";
import { listenError } from "../base/listen-error.ts";
import { type Config, readConfig, unknownSettingWarnings } from "../config.ts";
import { readOperatorPlans } from "../limits/index.ts";
import { readOperatorPrices } from "../prices/index.ts";
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

/** Checks what the settings refer to: files, the data folder, the address to listen on. */
export async function checkSurroundings(config: Config): Promise<Finding[]> {
  return [
    ...(await checkFiles(config)),
    ...(await checkDataFolder(config)),
    await checkAddress(config),
    ...checkPublicUrl(config),
  ];
}

async function checkFiles({ pricesFile, plansFile }: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const read of [() => readOperatorPrices(pricesFile), () => readOperatorPlans(plansFile)]) {
    try {
      await read();
    } catch (thrown) {
      const parts = splitMessage(messageOf(thrown), "Correct the file.");
      findings.push(problem("configuration", parts, exitCodes.invalidConfiguration));
    }
  }
  return findings;
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
          remedy: "Make it writable for this user, or set BECKON_DATA_DIR to another folder.",
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

/** Checks that Beckon can listen on its address, or that Beckon is what already listens there. */
async function checkAddress({ host, port }: Config): Promise<Finding> {
  const address = `${host}:${port}`;
  const failure = await new Promise<unknown>((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
  if (failure === undefined) return ok("configuration", `Beckon can listen on ${address}.`);
  if (port !== 0 && (await isBeckon(host, port)))
    return ok("configuration", `Beckon is running on ${address} and is ready.`);
  const parts = splitMessage(listenError(failure, { host, port }).message, "Set HOST and PORT.");
  return problem("configuration", parts, exitCodes.invalidConfiguration);
}

const readinessTimeoutMs = 3_000;

async function isBeckon(host: string, port: number): Promise<boolean> {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : hostInUrl(host);
  try {
    const response = await fetch(`http://${name}:${port}/readyz`, {
      signal: AbortSignal.timeout(readinessTimeoutMs),
      redirect: "manual",
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function checkPublicUrl({ host, publicUrl, trustProxy }: Config): Finding[] {
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
  if (publicUrl?.startsWith("https:") && !trustProxy) {
    return [
      warning(
        "configuration",
        "PUBLIC_URL is https, so a proxy terminates TLS, but BECKON_TRUST_PROXY is 0. All " +
          "callers then have the proxy's IP address.",
        "Set BECKON_TRUST_PROXY=1 if the proxy sets X-Forwarded-For itself.",
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
