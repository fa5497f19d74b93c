// This file is long because it shows in one place in which order a server process is built.
import { parseArgs } from "node:util";
import { createAuth, createFailedSignIns } from "./accounts/index.ts";
import { elapsed, sleep, undefinedAfter } from "./base/clock.ts";
import { checkServer, connect, explainStartFailure, migrate } from "./base/database/index.ts";
import { createEgress, createLeanFetch, createLookups } from "./base/egress/index.ts";
import { ConfigError } from "./base/errors.ts";
import { guardHeap } from "./base/heap-guard.ts";
import { newId } from "./base/ids.ts";
import { LateListener } from "./base/listener/index.ts";
import { createLog, type Log } from "./base/log.ts";
import { flushLogs } from "./base/logging/index.ts";
import { memoryBudget } from "./base/machine/index.ts";
import { createMetrics, type Metrics } from "./base/metrics/index.ts";
import { createSecretCipher, parseMasterKey } from "./base/secrets/index.ts";
import { createTracing } from "./base/tracing/index.ts";
import { version } from "./base/version.ts";
import { type Config, readConfig } from "./config.ts";
import { prepareDefaultWorkspace, revealDemo } from "./default-workspace.ts";
import { defaultDeliveryLimits, type Sender, startSender } from "./deliveries/index.ts";
import { defaultTimeouts } from "./engine/index.ts";
import {
  createFailedAuthentications,
  createStreams,
  defaultStreamLimits,
  listen,
} from "./http/index.ts";
import { createKeyUse } from "./keys/index.ts";
import {
  applyNextPlans,
  correctPeriods,
  readOperatorPlans,
  reconcilePlans,
} from "./limits/index.ts";
import { createEvaluator } from "./mapping/index.ts";
import { measureProcess } from "./measure-process.ts";
import { PriceTable, readOperatorPrices } from "./prices/index.ts";
import { keepLease, recordDeaths, registerProcess } from "./processes/index.ts";
import { Discovery, ModelLists, modelServers, operatorProviders } from "./providers/index.ts";
import { foundProvider, toDemo } from "./ready-message.ts";
import { createRecorder } from "./received/index.ts";
import { reconcileMasterKey } from "./reconcile-master-key.ts";
import { reconcileRestore } from "./reconcile-restore.ts";
import { defaultPruning, startPruning } from "./retention/index.ts";
import { createRunServices, drainRuns } from "./runs/index.ts";
import { sendMetrics } from "./send-metrics.ts";
import type { StartOptions } from "./start-options.ts";
import {
  type Demo,
  type Draining,
  type Executing,
  type Failed,
  type FoundProvider,
  type Pong,
  parseFromSupervisor,
  type Ready,
  type Registered,
} from "./supervisor/index.ts";
import { replaceUnknownTimeZones } from "./usage/index.ts";
import { defaultPollsPerSweep, pollCancellations, startWorker } from "./worker.ts";
import { defaultWorkspaceId, issueSetupToken, revokeSetupTokens } from "./workspaces/index.ts";

/** One running server process. */
export interface Beckon {
  /** Address that callers use, without a trailing slash. */
  readonly url: string;
  /** Address on which the server listens. */
  readonly listeningUrl: string;
  /**
   * The demo agent with its secrets, if this startup created it or was asked to reveal it. Null
   * otherwise, if the demo agent can no longer be called, or for a worker.
   */
  readonly demo: Demo | null;
  /**
   * The token of the setup link, with which the first owner's account is created; null if there is
   * an owner, if the options or settings request no link, or for a worker.
   */
  readonly setupToken: string | null;
  /** The operator's providers that the workspace `default` could use when startup ended. */
  readonly providers: readonly FoundProvider[];
  /** Returns the number of runs that this process executes now. */
  executingRuns(): number;
  /** Returns the metrics of this process; none if BECKON_METRICS_PORT is not set. */
  collectMetrics: Metrics["collect"];
  /**
   * Records that other processes have exited, so that their runs are resumed before their leases
   * expire.
   */
  recordDeaths(processIds: readonly string[]): Promise<void>;
  /**
   * Takes no new work, lets runs and requests in progress finish within the drain time, and closes
   * everything.
   */
  stop(): Promise<void>;
}

/**
 * Starts a server process in this Node.js process: connects to the database, migrates it and
 * listens.
 * @throws ConfigError if the settings or the database cannot be used; the error of the connection
 *   if the database cannot be reached. `explainStartFailure` explains both.
 */
export async function start(options: StartOptions): Promise<Beckon> {
  // Opened resources are closed in reverse order, both after a failed start and by stop().
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
    exited = [],
    tools = [],
    setup = false,
    streamLimits,
    connectionLimits,
    listenFd,
    heap = guardHeap(),
    modelServers: servers = modelServers,
    lookups = createLookups(),
    discovery: { waitMs = 400, ...probing } = {},
    deliveries: { testHooks, ...deliveryLimits } = {},
    pruning = defaultPruning,
    pollsPerSweep = defaultPollsPerSweep,
    onOtherCluster,
    onNewProcessId = () => {},
    onExecuting,
    log = createLog(config.logLevels, { format: config.logFormat }),
  }: StartOptions,
  opened: AsyncDisposableStack,
): Promise<Beckon> {
  opened.defer(() => heap.stop());
  const executesRuns = config.role !== "api";
  const servesApi = config.role !== "worker";
  const metrics = await createMetrics({ isOn: config.metricsPort !== undefined });
  const tracing = await createTracing(config, { log, processId });
  /** The value of `elapsed()` at which the drain time of a stop ends; 0 before a stop. */
  let graceOver = 0;
  // Resources that are opened later are closed before the tracing. So requests and runs end their
  // spans before the tracing exports the last spans.
  opened.defer(() => tracing?.close(graceOver - elapsed()));
  const { databaseUrl, masterKey } = config;
  if (databaseUrl === undefined || masterKey === undefined)
    throw new ConfigError("DATABASE_URL and BECKON_MASTER_KEY are needed to start a server.");
  // What can be checked without the database is checked before anything is written to it.
  const memoryBytes = memoryBudget(config.memoryBudgetMib);
  const prices = new PriceTable(await readOperatorPrices(config.pricesFile));
  const plans = {
    operatorPlans: await readOperatorPlans(config.plansFile),
    operatorWorkspaceId: defaultWorkspaceId,
  };
  const previous =
    config.previousMasterKey === undefined ? undefined : parseMasterKey(config.previousMasterKey);
  const cipher = createSecretCipher(parseMasterKey(masterKey), previous);

  const databaseRole = await checkServer(
    { connectionString: databaseUrl, connectionTimeoutMillis: 5_000 },
    config,
  );
  const database = connect({
    url: databaseUrl,
    poolSize: config.poolSize,
    role: databaseRole,
    leaseSeconds: config.leaseSeconds,
    log,
  });
  opened.defer(() => database.close());
  // `defaultTimeouts.idleMs` is not included. Only the engine knows whether the model's answer has
  // begun, so the engine enforces this limit. Other callers limit their whole calls.
  const waits = {
    connectTimeoutMs: defaultTimeouts.connectMs,
    headersTimeoutMs: defaultTimeouts.stepMs,
    bodyTimeoutMs: defaultTimeouts.stepMs,
  };
  const unrestricted = createLeanFetch(waits);
  opened.defer(() => unrestricted.close());
  const egress = createEgress({
    ...waits,
    lookups,
    totalTimeoutMs: defaultTimeouts.stepMs,
    allow: config.egressAllow,
  });
  opened.defer(() => egress.close());
  const ownPorts = new Set(configuredPorts(config));
  const operator = operatorProviders(config.accounts, {
    defaultWorkspaceId,
    shared: config.shareProviders,
    discovery: config.discover
      ? new Discovery({ servers, ownPorts, fetch: unrestricted.fetch, log, ...probing })
      : undefined,
  });
  const created = await migrate({ ...database.settings, noticeLog: log }, async (client) => {
    await reconcileMasterKey(client, { ...config, masterKey }, log);
    await replaceUnknownTimeZones({ database, log });
    await reconcileRestore({ client, database, operator, prices }, log);
    return prepareDefaultWorkspace({ database, cipher }, config);
  });
  const newlyLimited = await reconcilePlans(database, plans, log);
  // A process that does not serve the API shows no demo agent and no setup link.
  const demo = servesApi
    ? (created ?? (setup ? await revealDemo({ database, cipher }) : undefined))
    : undefined;

  await registerProcess(database.lease, processId, config.leaseSeconds, executesRuns);
  await recordDeaths(database.lease, exited, processId);
  const runs = createRunServices({
    database,
    cipher,
    log,
    metrics,
    tracing,
    processId,
    maxRuns: config.maxRuns,
    memoryBytes,
    heap,
    executes: executesRuns,
    extraTools: tools,
    unrestricted,
    egress,
    operator,
    prices,
  });
  opened.defer(() => runs.processMessages.close());
  runs.processMessages.onOtherCluster(() => {
    log.write(
      "the database is on another PostgreSQL cluster than before; this process must be started again",
      { process_id: runs.process.id },
    );
    onOtherCluster?.();
  });
  const lease = keepLease({
    own: runs.process,
    connection: database.lease,
    leaseSeconds: config.leaseSeconds,
    processMessages: runs.processMessages,
    log,
    metrics,
    dropRuns: () => {
      for (const live of runs.live.values()) live.stop("fenced");
    },
    onNewId: onNewProcessId,
    acceptsRuns: () => runs.capacity.isOpen,
  });
  opened.defer(() => lease.stop());
  const limits = {
    ...plans,
    changed(workspaceIds: readonly string[]) {
      runs.onLimitsChanged(workspaceIds);
      runs.worker.release();
    },
    releaseHeld: runs.worker.release,
  };
  let url = config.publicUrl ?? "";
  const wakeSender = new LateListener();
  opened.defer(pollCancellations(runs));

  const { retention } = config;
  if (executesRuns) {
    const services = { database, retention, process: runs.process, metrics, log };
    const pruner = startPruning(services, pruning);
    opened.defer(() => pruner.stop());
  }

  const mapping = createEvaluator({ log });
  opened.defer(() => mapping.close());
  const streams = createStreams(
    { database, log, heap },
    { ...defaultStreamLimits, ...streamLimits },
  );
  if (config.metricsPort !== undefined)
    opened.defer(measureProcess(metrics, { database, runs, openStreams: () => streams.count }));
  const failedAuthentications = createFailedAuthentications(failedAuthenticationsPerMinute);
  const http = await listen(
    {
      servesOnlyProbes: !servesApi,
      database,
      cipher,
      log,
      metrics,
      tracing,
      runs,
      egress,
      unrestricted,
      modelLists: new ModelLists(),
      operator,
      prices,
      limits,
      retention,
      mapping,
      publicUrl: () => url,
      trustedProxies: config.trustedProxies,
      keyUse: createKeyUse(database, log),
      failedAuthentications,
      auth: createAuth({
        database,
        masterKey: parseMasterKey(masterKey),
        secure: config.publicUrl?.startsWith("https:") === true,
      }),
      failedPasswords: createFailedAuthentications(failedPasswordsPerMinute, "sign-in"),
      failedSignIns: createFailedSignIns(database, log),
      recorder: createRecorder(database),
      streams,
      deliveries: {
        changed() {
          wakeSender.call();
          runs.processMessages.send({ kind: "deliveries" });
        },
      },
    },
    { host: config.host, port: config.port, fd: listenFd },
    { drainDelayMs: config.drainDelaySeconds * 1_000, ...connectionLimits },
  );
  opened.defer(() => http.close(graceOver - elapsed()));
  opened.defer(() => runs.subscribers.poller.close());
  opened.defer(() => runs.eventPoller.close());
  url ||= http.url;
  ownPorts.add(Number(new URL(http.url).port));
  // Starts after `listen`, so that a startup whose port is taken uses up no attempt of an abandoned
  // run. Nothing is awaited in between, so no request is handled without the worker.
  if (executesRuns) onExecuting?.();
  const worker = startWorker(runs, {
    recordExpired: lease.recordExpired,
    applyNextPlans: (stopping) => applyNextPlans(database, limits, stopping),
    correctPeriods: (stopping) => correctPeriods(database, limits, stopping),
    wakeSender: wakeSender.call,
    pollsPerSweep,
  });
  opened.defer(() => worker.stop());
  let sender: Sender | undefined;
  if (executesRuns) {
    const timeoutMs = config.deliveryTimeoutSeconds * 1_000;
    const limitsOfSender = { timeoutMs, ...defaultDeliveryLimits, ...deliveryLimits };
    const toReceivers = createEgress(
      {
        connectTimeoutMs: limitsOfSender.timeoutMs,
        headersTimeoutMs: limitsOfSender.timeoutMs,
        bodyTimeoutMs: limitsOfSender.timeoutMs,
        totalTimeoutMs: limitsOfSender.timeoutMs,
        allow: config.egressAllow,
        lookups,
      },
      testHooks,
    );
    opened.defer(() => toReceivers.close());
    sender = startSender({
      database,
      cipher,
      log,
      metrics,
      tracing,
      egress: toReceivers,
      memory: runs.memory.deliveries,
      heap,
      process: runs.process,
      publicUrl: () => url,
      schedule: config.retrySchedule,
      ...limitsOfSender,
    });
    opened.defer(() => sender?.stop(0));
    wakeSender.register(sender.wake);
    runs.eventPoller.onWritten(sender.noteWritten);
  }
  await Promise.all([
    undefinedAfter(operator.probe(defaultWorkspaceId), waitMs),
    undefinedAfter(worker.firstClaim, maxFirstClaimMs),
  ]);

  let setupToken: string | undefined;
  if (setup && servesApi) {
    if (config.setupLink) setupToken = await issueSetupToken(database);
    else await revokeSetupTokens(database);
  }

  // Notifies other processes of the workspaces with new limits. This comes late in startup, because
  // a process sends no messages until a renewal of its lease has found other processes.
  limits.changed(newlyLimited);
  const startedAt = elapsed();
  log.write("process started", {
    process_id: processId,
    role: config.role,
    version,
    pid: process.pid,
    node: process.version,
  });
  const running = opened.move();
  return {
    url,
    listeningUrl: http.url,
    demo: demo === undefined ? null : toDemo(demo, url),
    setupToken: setupToken ?? null,
    providers: operator.usableBy(defaultWorkspaceId).map(foundProvider),
    executingRuns: () => runs.live.size,
    collectMetrics: metrics.collect,
    async recordDeaths(processIds) {
      await recordDeaths(database.lease, processIds, runs.process.id);
      runs.capacity.foundDeaths();
      runs.worker.takeOver();
    },
    async stop() {
      log.write("process stopping", { process_id: runs.process.id, runs: runs.live.size });
      // From here on, readiness checks fail. During the drain delay, requests are still accepted.
      runs.capacity.announceDrain();
      await http.divertRequests();
      // From here on, this process starts no run. Callers that wait for a run can wait until
      // `graceOver`.
      graceOver = elapsed() + config.drainSeconds * 1_000;
      runs.capacity.drain();
      lease.recordDrain();
      await worker.stop();
      const graceMs = Math.max(0, graceOver - elapsed());
      await Promise.all([drainRuns(runs, graceMs), sender?.stop(graceMs)]);
      await running.disposeAsync();
      log.write("process stopped", {
        process_id: runs.process.id,
        uptime_seconds: Math.round((elapsed() - startedAt) / 1_000),
      });
    },
  };
}

/**
 * Maximum failed authentications of one IPv4 address or IPv6 /64 per minute: see `networkOf`. Above
 * this number, requests from there get the error `too_many_requests`.
 */
const failedAuthenticationsPerMinute = 300;
/**
 * Maximum failed attempts of one IPv4 address or IPv6 /64 per minute with a password or the token
 * of a one-time link. Lower than `failedAuthenticationsPerMinute`, because passwords are easier to
 * guess.
 */
const failedPasswordsPerMinute = 30;

/**
 * Returns the configured ports of Beckon and its metrics, of the proxy in front of it, and of its
 * database. Discovery must not mistake these for model servers. A port that the settings do not
 * name, for example with PORT=0, is not included.
 */
function configuredPorts({ port, metricsPort = 0, publicUrl, databaseUrl }: Config): number[] {
  const urls = [publicUrl, databaseUrl].map((url) => Number(URL.parse(url ?? "")?.port));
  return [port, metricsPort, ...urls].filter((each) => each > 0);
}

/** Maximum time that startup waits for the worker's first claim. */
const maxFirstClaimMs = 1_000;

/**
 * Maximum time that a stop waits for the end of startup. A process can execute runs before its
 * startup ends, and these must be drained. A startup that takes longer usually waits for the
 * database, for example while another process migrates, and executes no runs yet.
 */
const maxStartupWaitMs = 2_000;

/**
 * Runs one server process, with or without a supervisor. After SIGTERM, SIGINT, SIGHUP or SIGQUIT
 * it drains and exits; if it is still starting after `maxStartupWaitMs`, it exits at once. It also
 * exits at once when the channel to its supervisor closes: without its supervisor, nothing would
 * restart it, and when Beckon is started again, the new supervisor stops the embedded PostgreSQL
 * that this process may use.
 */
async function runServer(): Promise<void> {
  const { values } = parseArgs({
    options: {
      process: { type: "string" },
      exited: { type: "string" },
      setup: { type: "boolean" },
      "listen-fd": { type: "string" },
      "postgres-log": { type: "string" },
    },
  });
  const stopping = Promise.withResolvers<void>();
  // Without a listener, SIGHUP and SIGQUIT would end the process before its log is written.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])
    process.once(signal, () => stopping.resolve());
  let isStarted = false;
  void stopping.promise.then(async () => {
    await sleep(maxStartupWaitMs);
    if (isStarted) return;
    await flushLogs();
    process.exit(0);
  });
  let log: Log | undefined;
  // The channel closes when the supervisor was killed. The next startup resumes unfinished runs.
  process.once("disconnect", () => {
    log?.write("the supervisor exited; this process exits at once", {});
    process.exit(1);
  });
  process.on("message", (message) => {
    if (parseFromSupervisor(message)?.type === "ping")
      process.send?.({ type: "pong" } satisfies Pong, () => {});
  });
  try {
    const config = readConfig(process.env);
    log = createLog(config.logLevels, {
      format: config.logFormat,
      sharing: config.processes === 1 ? "alone" : "shared",
    });
    const beckon = await start({
      config,
      log,
      ...(values.process === undefined ? {} : { processId: values.process }),
      setup: values.setup === true,
      listenFd: values["listen-fd"] === undefined ? undefined : Number(values["listen-fd"]),
      exited: values.exited === "all" ? "all" : (values.exited?.split(",") ?? []),
      // Does not drain, because runs would still write to the new cluster. The next process resumes
      // them.
      onOtherCluster: () => void flushLogs().finally(() => process.exit(1)),
      onNewProcessId: (id) =>
        process.send?.({ type: "registered", process_id: id } satisfies Registered, () => {}),
      onExecuting: () => process.send?.({ type: "executing" } satisfies Executing, () => {}),
    });
    isStarted = true;
    process.on("message", (message) => {
      const received = parseFromSupervisor(message);
      if (received?.type === "collect") void sendMetrics(beckon.collectMetrics, received);
      // If this fails, the runs resume when the lease of the exited process expires.
      if (received?.type === "exited") beckon.recordDeaths(received.process_ids).catch(() => {});
    });
    const { url, listeningUrl, demo, setupToken, providers } = beckon;
    process.send?.({
      type: "ready",
      url,
      listening_url: listeningUrl,
      demo,
      setup_token: setupToken,
      providers,
    } satisfies Ready);
    await stopping.promise;
    process.send?.({ type: "draining", runs: beckon.executingRuns() } satisfies Draining);
    await beckon.stop();
    await sendMetrics(beckon.collectMetrics, { id: 0, database: false });
    await flushLogs();
    process.exit(0);
  } catch (thrown) {
    const { exitCode, reason } = explainStartFailure(
      thrown,
      process.env.DATABASE_URL,
      values["postgres-log"],
    );
    await reportFailure(reason);
    await flushLogs();
    process.exit(exitCode);
  }
}

/**
 * Sends the reason to the supervisor. If the process has no supervisor, writes it to standard
 * error.
 */
function reportFailure(reason: string): Promise<void> {
  return new Promise((sent) => {
    if (process.send === undefined) {
      process.stderr.write(`Beckon ${version} cannot start. ${reason}\n`, () => sent());
    } else {
      process.send({ type: "failed", reason } satisfies Failed, () => sent());
    }
  });
}

if (import.meta.main) await runServer();
