import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { type Api, openApi } from "../../../../bench/api.ts";
import { prepareAgent } from "../../../../bench/prepare-agent.ts";
import { cpuSeconds, family, residentMiB, run } from "../../../../bench/processes.ts";
import { startEmbedded } from "../../../src/base/database/embedded/index.ts";
import { createLog } from "../../../src/base/log.ts";
import { heapFlags, serverFlags } from "../../../src/supervisor/keep-servers.ts";
import type { PruningTest } from "../../fixtures/pruning-server.ts";
import { startGuard } from "../../guard.ts";

/** Milliseconds after which the model responds. */
const modelMs = 200;

/** One server process with its own PostgreSQL, and an agent whose model is another process. */
export interface Installation {
  readonly port: number;
  readonly api: Api;
  readonly agent: { readonly id: string; readonly token: string };
  readonly databaseUrl: string;
  /** Database connections that can read the rows of all workspaces, despite row-level security. */
  readonly engine: Pool;
  /** Makes PostgreSQL write a checkpoint. */
  checkpoint(): Promise<void>;
  /** CPU seconds used so far. `database`: those of all processes of PostgreSQL. */
  cpu(): { readonly server: number; readonly database: number };
  /** Memory and open files of the processes now. */
  processes(): {
    readonly serverMiB: number;
    /** Open file descriptors of the server, including its connections. */
    readonly descriptors: number;
    /** Private memory of all processes of PostgreSQL, without the memory that they share. */
    readonly databaseMiB: number;
  };
}

/**
 * Starts PostgreSQL, the model and the server, and creates the agent.
 * @param opened when it is disposed, what was started stops and the data folder is removed
 * @param options `retention` and `pruning`: what the server deletes, and when. `allow`: hosts that
 *   it can call in addition to the model.
 */
export async function install(
  opened: AsyncDisposableStack,
  { retention, pruning, allow = [] }: PruningTest & { readonly allow?: readonly string[] },
): Promise<Installation> {
  const guard = startGuard();
  opened.defer(async () => {
    // The guard is a child process that removes the data folder. It does not keep this process
    // alive while `release` waits for it, so this timer does.
    const keepAlive = setInterval(() => {}, 1_000);
    await guard.release();
    clearInterval(keepAlive);
  });
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-retention-"));
  guard.watch(dataDir);
  const log = createLog("warn");
  const tcp = { password: randomBytes(16).toString("hex") };
  const embedded = await startEmbedded({ dataDir, log, tcp });
  opened.defer(() => embedded.stop());
  if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
  // A separate pool, because the timeouts and planner settings of a server's pool do not suit bulk
  // statements.
  const engine = new Pool({
    connectionString: embedded.url,
    options: "-c beckon.workspace=*",
    max: 2,
  });
  opened.defer(() => engine.end());
  const superuser = new Client({ connectionString: embedded.tcpUrl });
  await superuser.connect();
  opened.defer(() => superuser.end());

  const model = await run<{ port: number }>(opened, "model.ts", ["words", String(modelMs)]);
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const server = await run<{ port: number }>(
    opened,
    "../server/test/fixtures/pruning-server.ts",
    [],
    {
      env: {
        PORT: "0",
        LOG_LEVEL: "warn",
        DATABASE_URL: embedded.url,
        BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
        BECKON_BOOTSTRAP_KEY: key,
        BECKON_DISCOVER: "0",
        BECKON_EGRESS_ALLOW: [`127.0.0.1:${model.message.port}`, ...allow].join(","),
        PRUNING_TEST: JSON.stringify({ retention, pruning } satisfies PruningTest),
      },
      flags: [...heapFlags(1, ""), ...serverFlags],
    },
  );
  const { port } = server.message;
  const api = openApi(port, key);
  return {
    port,
    api,
    agent: await prepareAgent(api, "model", model.message.port),
    databaseUrl: embedded.url,
    engine,
    checkpoint: async () => {
      await superuser.query("checkpoint");
    },
    cpu: () => ({
      server: cpuSeconds(server.pid, { tree: false }),
      database: cpuSeconds(embedded.pid, { tree: true }),
    }),
    processes: () => ({
      serverMiB: residentMiB(server.pid),
      descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
      databaseMiB: family(embedded.pid).reduce((sum, pid) => sum + privateMiB(pid), 0),
    }),
  };
}

/** Returns a process's anonymous memory, without shared buffers; 0 if it has just exited. */
function privateMiB(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/Pss_Anon:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
