import { parseArgs } from "node:util";
import { checkServer, connect, migrate } from "./base/database/index.ts";
import { createLeanFetch } from "./base/egress/index.ts";
import { ConfigError, messageOf } from "./base/errors.ts";
import { newId } from "./base/ids.ts";
import { createLog } from "./base/log.ts";
import { checkMasterKey, createSealer, parseMasterKey } from "./base/secrets/index.ts";
import { type Config, readConfig } from "./config.ts";
import { defaultTimeouts, type Tool } from "./engine/index.ts";
import { type DemoAgent, firstStart } from "./first-start.ts";
import { countFailedAuthentications, listen } from "./http/index.ts";
import { keepLease } from "./keep-lease.ts";
import { createRuntime, recordDeaths, registerProcess } from "./runs/index.ts";
import { type Demo, parseFromSupervisor, type Ready } from "./supervisor-messages.ts";
import { startWorker } from "./worker.ts";

/** One server process, answering callers. */
export interface Beckon {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** What the first start made, with its secrets in clear; null at every other. */
  readonly demo: Demo | null;
  readonly created: boolean;
  /** Other processes are known to have died: their runs may be taken over now. */
  recordDeaths(processIds: readonly string[]): Promise<void>;
  /** Takes no new work, lets what is under way end for as long as the drain time allows, and closes everything. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** `databaseUrl` and `masterKey` are set: the supervisor sees to that when PostgreSQL runs inside. */
  readonly config: Config;
  readonly processId?: string;
  /** Earlier processes that are known to be gone; `all`: this start is alone on its database. */
  readonly reaped?: readonly string[] | "all";
  /** Tools of the operator's own, granted to every agent. */
  readonly tools?: readonly Tool[];
}

/**
 * Builds the server from the ground up and opens its doors.
 * @throws ConfigError for settings or a database it must not run with; anything else when the database cannot be reached.
 */
export async function start({ config, processId = newId("prc"), reaped = [], tools = [] }: StartOptions): Promise<Beckon> {
  const { databaseUrl, masterKey } = config;
  if (databaseUrl === undefined || masterKey === undefined)
    throw new ConfigError("DATABASE_URL and BECKON_MASTER_KEY are needed to start a server.");
  const log = createLog(config.logLevel);
  const sealer = createSealer(parseMasterKey(masterKey));

  const role = await checkServer({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 }, config);
  const database = connect({ url: databaseUrl, poolSize: config.poolSize, role, log });
  try {
    const made = await migrate(database.settings, async (client) => {
      await checkMasterKey(client, sealer);
      return firstStart({ database, sealer }, config);
    });

    await registerProcess(database.lease, processId, config.leaseSeconds);
    await recordDeaths(database.lease, reaped, processId);
    const outbound = createLeanFetch({
      connectTimeoutMs: defaultTimeouts.connectMs,
      headersTimeoutMs: defaultTimeouts.stepMs,
      bodyTimeoutMs: defaultTimeouts.idleMs,
    });
    const runtime = createRuntime({
      database,
      sealer,
      log,
      processId,
      maxRuns: config.maxRuns,
      executes: config.role !== "api",
      extraTools: tools,
      fetch: outbound.fetch,
    });
    const lease = keepLease(runtime, config.leaseSeconds);
    const worker = startWorker(runtime);

    let url = config.publicUrl ?? "";
    const http = await listen(
      {
        database,
        sealer,
        log,
        runtime,
        publicUrl: () => url,
        trustProxy: config.trustProxy,
        failedAuthentications: countFailedAuthentications(failedAuthenticationsPerMinute),
      },
      { host: config.host, port: config.port, shared: config.processes > 1 },
    );
    url ||= `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${http.port}`;

    return {
      url,
      demo: made === undefined ? null : shown(made, url),
      created: made !== undefined,
      recordDeaths: (processIds) => recordDeaths(database.lease, processIds, runtime.processId),
      async stop() {
        runtime.room.open = false;
        await worker.stop();
        await http.close();
        await lease.stop();
        runtime.followers.close();
        await outbound.close();
        await database.close();
      },
    };
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** One address may fail this often in a minute before it is told to slow down. */
const failedAuthenticationsPerMinute = 300;

function shown(demo: DemoAgent, url: string): Demo {
  return { agent_id: demo.agentId, agent_token: demo.agentToken, trigger_url: `${url}/api/public/triggers/${demo.triggerToken}` };
}

/**
 * A server process under the supervisor, or by itself. It ends when asked to by a signal, or when the channel to its supervisor
 * closes: nobody would restart it, and the database goes away.
 */
async function runServer(): Promise<void> {
  const { values } = parseArgs({ options: { process: { type: "string" }, reaped: { type: "string" } } });
  const stopping = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "disconnect"]) process.once(signal, () => stopping.resolve());
  try {
    const beckon = await start({
      config: readConfig(process.env),
      ...(values.process === undefined ? {} : { processId: values.process }),
      reaped: values.reaped === "all" ? "all" : (values.reaped?.split(",") ?? []),
    });
    process.on("message", (message) => {
      const reaped = parseFromSupervisor(message);
      // A death that cannot be recorded now is recorded by the lease's end.
      if (reaped !== undefined) beckon.recordDeaths(reaped.process_ids).catch(() => {});
    });
    const ready: Ready = { type: "ready", url: beckon.url, demo: beckon.demo, created: beckon.created };
    process.send?.(ready);
    await stopping.promise;
    await beckon.stop();
    process.exit(0);
  } catch (thrown) {
    process.stderr.write(`Beckon cannot start. ${messageOf(thrown)}\n`);
    process.exit(thrown instanceof ConfigError ? exitRefusedConfiguration : 1);
  }
}

/** EX_CONFIG of sysexits.h: starting again would not help. */
const exitRefusedConfiguration = 78;

if (import.meta.main) await runServer();
