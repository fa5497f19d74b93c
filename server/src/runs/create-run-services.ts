import {
  createMutex,
  type Database,
  openProcessMessages,
  type ProcessMessages,
} from "../base/database/index.ts";
import { FixedWindowCounter } from "../base/fixed-window.ts";
import type { HeapGuard } from "../base/heap-guard.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics/index.ts";
import type { Tracing } from "../base/tracing/index.ts";
import { type Circuits, circuitPolicy, createCircuits } from "../engine/index.ts";
import { createEventPoller, type EventPoller, KnownSubscriptions } from "../events/index.ts";
import type { PriceTable } from "../prices/index.ts";
import { OwnProcess } from "../processes/index.ts";
import { Reservations } from "../reservations/index.ts";
import { withKnownTimeZones } from "../usage/index.ts";
import {
  type ClaimPorts,
  excludedIds,
  executeLostClaims,
  UnreadableRuns,
} from "./claiming/index.ts";
import {
  AgentCache,
  type AgentCacheOptions,
  Capacity,
  type DrainPorts,
  executeOwned,
  FirstCalls,
  type Memory,
  shareMemory,
  WorkerCalls,
} from "./executing/index.ts";
import { createAppends } from "./journal/index.ts";
import type { CancelPorts } from "./managing/index.ts";
import { createPricer } from "./pricer.ts";
import { reachedStatement } from "./reached-statement.ts";
import { createRunReports, type RunReports } from "./reports.ts";
import {
  createKnownCallers,
  createQueueLimits,
  createStarts,
  createUnconfirmedStarts,
  type StartPorts,
} from "./starting/index.ts";
import { createLiveRuns, createSubscribers, type SubscribePorts } from "./subscribing/index.ts";

/**
 * The services for runs. Each process creates them once, at startup. Each function declares only
 * the part that it needs as its parameter, such as `StartPorts` or `SubscribePorts`.
 */
export type RunServices = StartPorts &
  ClaimPorts &
  SubscribePorts &
  CancelPorts &
  DrainPorts & {
    readonly process: OwnProcess;
    readonly processMessages: ProcessMessages;
    readonly eventPoller: EventPoller;
    readonly subscriptions: KnownSubscriptions;
    readonly circuits: Circuits;
    readonly memory: Memory;
    readonly reservations: Reservations;
    /** Lets runs of these workspaces, in all processes, check their limits again. */
    readonly onLimitsChanged: (workspaceIds: readonly string[]) => void;
    readonly worker: WorkerCalls;
    readonly reports: RunReports;
  };

/** Dependencies and limits of the services for runs. */
export interface RunServicesOptions extends Omit<AgentCacheOptions, "circuits" | "pricer"> {
  readonly database: Database;
  /**
   * Prices of models: those in the operator's file, which take precedence, and those in the price
   * library (`@pydantic/genai-prices`).
   */
  readonly prices: PriceTable;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined if traces are off. */
  readonly tracing: Tracing | undefined;
  readonly processId: string;
  /** Maximum number of runs that this process executes at the same time. */
  readonly maxRuns: number;
  /** Memory budget of this process for all workspaces, in bytes. */
  readonly memoryBytes: number;
  readonly heap: HeapGuard;
  /** Whether this process executes runs. A process with the role `api` executes none. */
  readonly executes: boolean;
}

/** Creates the services for runs. This process claims no run before `startWorker` is called. */
export function createRunServices(options: RunServicesOptions): RunServices {
  const { database, log, heap, maxRuns } = options;
  const capacity = new Capacity({ max: maxRuns, executes: options.executes, heap });
  const worker = new WorkerCalls();
  const memory = shareMemory({
    bytes: options.memoryBytes,
    heap,
    // While there was no memory, this process left runs in the queue, so there may be runs to claim
    // now.
    onFree: () => {
      capacity.foundQueue({ empty: false });
      worker.claim();
    },
  });
  const processMessages = openProcessMessages(database, log);
  const eventPoller = createEventPoller({ database, processMessages, log });
  const live = createLiveRuns();
  const subscribers = createSubscribers(database, {
    onFirstSubscriber: (runId) => processMessages.send({ kind: "runSubscribers", runId }),
    outputs: memory.outputs,
  });
  const mutex = createMutex();
  const budgetMutex = createMutex();
  // While runs of a workspace waited for a limit, this process left runs of the workspace in the
  // queue. `foundQueue` is not called: with a workspace whose runs often wait for a moment, the new
  // runs of all workspaces would be queued first.
  const reservations = new Reservations(
    database,
    budgetMutex,
    reachedStatement,
    worker.claim,
    (act) => withKnownTimeZones({ database, log }, act),
  );
  const subscriptions = new KnownSubscriptions();
  const onWritten = () => eventPoller.noteWritten();
  const onReturned = (workspaceIds: readonly string[]) => {
    for (const workspaceId of workspaceIds) {
      reservations.wakeWaiting(workspaceId);
      processMessages.send({ kind: "returned", workspaceId });
    }
  };
  const onLimitsChanged = (workspaceIds: readonly string[]) => {
    for (const workspaceId of workspaceIds) {
      reservations.wake(workspaceId);
      processMessages.send({ kind: "limits", workspaceId });
    }
  };
  const appends = createAppends(database, {
    mutex,
    budgetMutex,
    reservations,
    subscriptions,
    log,
    onWritten,
    onReturned,
  });
  const pricer = createPricer(options);
  const reports = createRunReports(log, options.metrics);
  const circuits = createCircuits(circuitPolicy(maxRuns), { outages: reports.outages });
  const agents = new AgentCache({ ...options, pricer, circuits });
  const executePorts = {
    database,
    process: new OwnProcess(options.processId),
    log,
    reports,
    agents,
    live,
    subscribers,
    capacity,
    memory,
    worker,
    appends,
    processMessages,
    pricer,
    reservations,
    firstCalls: new FirstCalls(reservations),
    onReturned,
    tracing: options.tracing,
  };
  const services: RunServices = {
    ...executePorts,
    circuits,
    unreadable: new UnreadableRuns(log),
    eventPoller,
    subscriptions,
    starts: createStarts(database, {
      mutex,
      budgetMutex,
      subscriptions,
      onWritten,
      // A queued run is soon claimed, unless too many runs of its workspace wait here for a limit.
      // The start statement does not count them, and writes up to 200 runs at once.
      queuedIds: () => [...memory.runs.waitingOwners, ...excludedIds(reservations, capacity.max)],
    }),
    startsInProgress: { count: 0 },
    unconfirmedStarts: createUnconfirmedStarts(),
    unconfirmedClaims: new Set(),
    executeLostClaims: () => executeLostClaims(services),
    queueLimits: createQueueLimits(database),
    knownCallers: createKnownCallers(),
    limitRejections: new FixedWindowCounter({ windowMs: 60_000, maxKeys: 50_000 }),
    onLimitsChanged,
    execute: (run) => executeOwned(executePorts, run),
  };
  return services;
}
