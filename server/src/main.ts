import { parseArgs } from "node:util";
import { getHeapStatistics } from "node:v8";
import { createAuth, recordFailedSignIns } from "./accounts/index.ts";
import { elapsed, sleep } from "./base/clock.ts";
import type { OperatorProvider } from "./base/context.ts";
import { checkServer, connect, isUnreachable, migrate } from "./base/database/index.ts";
import { createEgress, createLeanFetch } from "./base/egress/index.ts";
import { ConfigError, messageOf } from "./base/errors.ts";
import { exitCodes } from "./base/exit-codes.ts";
import { guardHeap, type HeapGuard } from "./base/heap-guard.ts";
import { newId } from "./base/ids.ts";
import { createLog } from "./base/log.ts";
import { createSecretCipher, parseMasterKey } from "./base/secrets/index.ts";
import { type Config, readConfig } from "./config.ts";
import { defaultTimeouts, type Tool } from "./engine/index.ts";
import { reconcileHistory } from "./events/index.ts";
import { type DemoAgent, firstStart } from "./first-start.ts";
import {
  countFailedAuthentications,
  defaultStreamLimits,
  listen,
  openStreams,
  type StreamLimits,
} from "./http/index.ts";
import { recordKeyUse } from "./keys/index.ts";
import { keepLease, recordDeaths, registerProcess } from "./processes/index.ts";
import {
  Discovery,
  ModelLists,
  type ModelServer,
  modelServers,
  operatorProviders,
} from "./providers/index.ts";
import { reconcileMasterKey } from "./reconcile-master-key.ts";
import { createRunServices, drainRuns } from "./runs/index.ts";
import {
  type Demo,
  type FoundProvider,
  parseFromSupervisor,
  type Ready,
} from "./supervisor/index.ts";
import { startWorker } from "./worker.ts";
import { defaultWorkspaceId, issueSetupToken } from "./workspaces/index.ts";

/** One server process, answering callers. */
export interface Beckon {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** What the first start made, with its secrets in clear; null at every other. */
  readonly demo: Demo | null;
  readonly created: boolean;
  /** The token that makes the first owner, if it was asked for and there is none yet. */
  readonly setupToken: string | null;
  /** The operator's providers that the start found. */
  readonly providers: readonly FoundProvider[];
  /** Other processes are known to have died: their runs may be taken over now. */
  recordDeaths(processIds: readonly string[]): Promise<void>;
  /** Takes no new work, lets what is under way end for as long as the drain time allows, and closes everything. */
  stop(): Promise<void>;
}

/** How one server process is started. */
export interface StartOptions {
  /** `databaseUrl` and `masterKey` are set: the supervisor sees to that when PostgreSQL runs inside. */
  readonly config: Config;
  readonly processId?: string;
  /** Earlier processes that are known to be gone; `all`: this start is alone on its database. */
  readonly reaped?: readonly string[] | "all";
  /** Tools of the operator's own, granted to every agent. */
  readonly tools?: readonly Tool[];
  /** Make a new token for the first owner; the one before stops. */
  readonly setup?: boolean;
  /** Where they differ from the usual ones. */
  readonly streamLimits?: Partial<StreamLimits>;
  /** Descriptor of a socket that is bound to HOST and PORT, which the supervisor shares between its servers. */
  readonly listenFd?: number | undefined;
  /** Default: the guard of this process's heap. It is stopped with the server. */
  readonly heap?: HeapGuard;
  /** Model servers to look for on this machine. Default: `modelServers`. */
  readonly modelServers?: readonly ModelServer[];
}

/**
 * Builds the server from the ground up and opens its doors.
 * @throws ConfigError for settings or a database it must not run with; anything else when the database cannot be reached.
 */
export async function start(options: StartOptions): Promise<Beckon> {
  // What is opened is closed in reverse order, by a failed start as well as by stop().
  const opened = new AsyncDisposableStack();
  try {
    return await build(options, opened);
  } catch (thrown) {
    await opened.disposeAsync();
    throw thrown;
  }
}

async function build(
  {
    config,
    processId = newId("prc"),
    reaped = [],
    tools = [],
    setup = false,
    streamLimits,
    listenFd,
    heap = guardHeap(),
    modelServers: servers = modelServers,
  }: StartOptions,
  opened: AsyncDisposableStack,
): Promise<Beckon> {
  opened.defer(() => heap.stop());
  const { databaseUrl, masterKey } = config;
  if (databaseUrl === undefined || masterKey === undefined)
    throw new ConfigError("DATABASE_URL and BECKON_MASTER_KEY are needed to start a server.");
  const log = createLog(config.logLevel);
  const previous =
    config.previousMasterKey === undefined ? undefined : parseMasterKey(config.previousMasterKey);
  const cipher = createSecretCipher(parseMasterKey(masterKey), previous);

  const role = await checkServer(
    { connectionString: databaseUrl, connectionTimeoutMillis: 5_000 },
    config,
  );
  const database = connect({ url: databaseUrl, poolSize: config.poolSize, role, log });
  opened.defer(() => database.close());
  const made = await migrate(database.settings, async (client) => {
    await reconcileMasterKey(client, { ...config, masterKey }, log);
    await reconcileHistory(client, log);
    return firstStart({ database, cipher }, config);
  });

  await registerProcess(database.lease, processId, config.leaseSeconds);
  await recordDeaths(database.lease, reaped, processId);
  const waits = {
    connectTimeoutMs: defaultTimeouts.connectMs,
    headersTimeoutMs: defaultTimeouts.stepMs,
    bodyTimeoutMs: defaultTimeouts.idleMs,
  };
  const outbound = createLeanFetch(waits);
  opened.defer(() => outbound.close());
  const egress = createEgress({
    ...waits,
    totalTimeoutMs: defaultTimeouts.stepMs,
    allow: config.egressAllow,
  });
  opened.defer(() => egress.close());
  const ownPorts = new Set(configuredPorts(config));
  const operator = operatorProviders(config.accounts, {
    defaultWorkspaceId,
    shared: config.shareProviders,
    discovery: config.discover
      ? new Discovery({ servers, ownPorts, fetch: outbound.fetch, log })
      : undefined,
  });
  const runs = createRunServices({
    database,
    cipher,
    log,
    processId,
    maxRuns: config.maxRuns,
    memoryBytes: memoryBudget(config),
    heap,
    executes: config.role !== "api",
    extraTools: tools,
    outbound,
    egress,
    operator,
  });
  opened.defer(() => runs.processMessages.close());
  const lease = keepLease({
    own: runs.process,
    connection: database.lease,
    leaseSeconds: config.leaseSeconds,
    processMessages: runs.processMessages,
    log,
    dropRuns: () => {
      for (const live of runs.live.values()) live.stop("fenced");
    },
  });
  opened.defer(() => lease.stop());
  const worker = startWorker(runs, { recordExpired: lease.recordExpired });
  opened.defer(() => worker.stop());

  let url = config.publicUrl ?? "";
  const failedAuthentications = countFailedAuthentications(failedAuthenticationsPerMinute);
  const http = await listen(
    {
      database,
      cipher,
      log,
      runs,
      egress,
      outbound,
      modelLists: new ModelLists(),
      operator,
      publicUrl: () => url,
      trustProxy: config.trustProxy,
      keyUse: recordKeyUse(database, log),
      failedAuthentications,
      auth: createAuth({
        database,
        masterKey: parseMasterKey(masterKey),
        secure: config.publicUrl?.startsWith("https:") === true,
      }),
      guesses: countFailedAuthentications(guessesPerMinute, "sign-in"),
      failedSignIns: recordFailedSignIns(database, log),
      streams: openStreams({ database, log }, { ...defaultStreamLimits, ...streamLimits }),
    },
    { host: config.host, port: config.port, fd: listenFd },
  );
  opened.defer(() => http.close());
  opened.defer(() => runs.subscribers.pollers.close());
  opened.defer(() => runs.tail.close());
  url ||= http.url;
  ownPorts.add(Number(new URL(http.url).port));
  await Promise.race([operator.probe(defaultWorkspaceId), sleep(discoveryMs)]);

  const setupToken = setup ? await issueSetupToken(database) : undefined;

  const running = opened.move();
  return {
    url,
    demo: made === undefined ? null : shown(made, url),
    created: made !== undefined,
    setupToken: setupToken ?? null,
    providers: operator.usableBy(defaultWorkspaceId).map(foundProvider),
    recordDeaths: (processIds) => recordDeaths(database.lease, processIds, runs.process.id),
    async stop() {
      // Readiness fails first, and nothing new is started; who waits keeps waiting for as long as the drain time allows.
      const graceOver = elapsed() + config.drainSeconds * 1_000;
      runs.capacity.drain();
      await worker.stop();
      await drainRuns(runs, Math.max(0, graceOver - elapsed()));
      await running.disposeAsync();
    },
  };
}

/**
 * Of the heap's limit. The budget's figures are estimates, and what is held for milliseconds only
 * is not counted.
 */
const budgetMax = 0.75;
const budgetDefault = 0.5;

/** @throws ConfigError for a budget that the heap cannot hold. */
function memoryBudget({ memoryBudgetMib }: Config): number {
  const { heap_size_limit: limit } = getHeapStatistics();
  if (memoryBudgetMib === undefined) return limit * budgetDefault;
  const max = Math.floor((limit * budgetMax) / mib);
  if (memoryBudgetMib <= max) return memoryBudgetMib * mib;
  throw new ConfigError(
    `BECKON_MEMORY_BUDGET_MIB was ${memoryBudgetMib}; with the heap that this server may have it must be at most ${max}. Lower it, or raise the heap's limit with NODE_OPTIONS=--max-old-space-size=<MiB>.`,
  );
}

const mib = 1024 * 1024;

/** One address may fail this often in a minute before it is told to slow down. */
const failedAuthenticationsPerMinute = 300;
/** And guess so many passwords, before none is looked at: they hold less than the 256 bits of a key. */
const guessesPerMinute = 30;

/** Milliseconds that a start waits for model servers; one that is slower is found later. */
const discoveryMs = 400;

/** Ports that belong to Beckon, a proxy before it, or its database. */
function configuredPorts({ port, publicUrl, databaseUrl }: Config): number[] {
  const urls = [publicUrl, databaseUrl].map((url) => Number(URL.parse(url ?? "")?.port));
  return [port, ...urls].filter((each) => each > 0);
}

/** Models for embeddings answer no agent. Most servers list them among the others. */
const embeds = /embed/i;

function foundProvider({ name, origin, models = [] }: OperatorProvider): FoundProvider {
  const model = models.find((each) => !embeds.test(each)) ?? models[0];
  return { name, origin, model: model === undefined ? null : `${name}/${model}` };
}

function shown(demo: DemoAgent, url: string): Demo {
  return {
    agent_id: demo.agentId,
    agent_token: demo.agentToken,
    trigger_url: `${url}/api/public/triggers/${demo.triggerToken}`,
  };
}

/**
 * A server process under the supervisor, or by itself. It drains and ends when asked to by a signal, and ends at once when
 * the channel to its supervisor closes: nobody would restart it, and the next start takes the database away.
 */
async function runServer(): Promise<void> {
  const { values } = parseArgs({
    options: {
      process: { type: "string" },
      reaped: { type: "string" },
      setup: { type: "boolean" },
      "listen-fd": { type: "string" },
    },
  });
  const stopping = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stopping.resolve());
  // Killed, the supervisor cannot take the database down in order: whatever is open is taken over by the next start.
  process.once("disconnect", () => process.exit(1));
  try {
    const beckon = await start({
      config: readConfig(process.env),
      ...(values.process === undefined ? {} : { processId: values.process }),
      setup: values.setup === true,
      listenFd: values["listen-fd"] === undefined ? undefined : Number(values["listen-fd"]),
      reaped: values.reaped === "all" ? "all" : (values.reaped?.split(",") ?? []),
    });
    process.on("message", (message) => {
      const reaped = parseFromSupervisor(message);
      // A death that cannot be recorded now is recorded by the lease's end.
      if (reaped !== undefined) beckon.recordDeaths(reaped.process_ids).catch(() => {});
    });
    const { url, demo, created, setupToken: setup_token, providers } = beckon;
    const ready: Ready = { type: "ready", url, demo, created, setup_token, providers };
    process.send?.(ready);
    await stopping.promise;
    await beckon.stop();
    process.exit(0);
  } catch (thrown) {
    process.stderr.write(`Beckon cannot start. ${messageOf(thrown)}\n`);
    process.exit(
      thrown instanceof ConfigError
        ? exitCodes.invalidConfiguration
        : isUnreachable(thrown)
          ? exitCodes.databaseUnreachable
          : 1,
    );
  }
}

if (import.meta.main) await runServer();
