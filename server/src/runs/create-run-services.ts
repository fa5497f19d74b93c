import { type Database, openWakeUps, takeTurns, type WakeUps } from "../base/database/index.ts";
import type { HeapGuard } from "../base/heap-guard.ts";
import type { Log } from "../base/log.ts";
import { circuitPolicy, createCircuits } from "../engine/index.ts";
import { createTail, type Tail } from "../events/index.ts";
import { OwnProcess } from "../processes/index.ts";
import type { ClaimPorts } from "./claiming/index.ts";
import {
  AgentCache,
  type AgentCacheOptions,
  Capacity,
  type DrainPorts,
  executeOwned,
  type Memory,
  shareMemory,
  WorkerCalls,
} from "./executing/index.ts";
import { createAppends } from "./journal/index.ts";
import type { CancelPorts } from "./managing/index.ts";
import {
  createQueueLimits,
  createStarts,
  createUnansweredStarts,
  type StartPorts,
} from "./starting/index.ts";
import { createLiveRuns, createSubscribers, type WatchPorts } from "./subscribing/index.ts";

/**
 * All that this process holds for runs, built once at startup. No function takes the whole: each
 * declares the part it needs, as `StartPorts` or `WatchPorts`.
 */
export type RunServices = StartPorts &
  ClaimPorts &
  WatchPorts &
  CancelPorts &
  DrainPorts & {
    readonly process: OwnProcess;
    readonly wakeUps: WakeUps;
    readonly tail: Tail;
    readonly memory: Memory;
    readonly worker: WorkerCalls;
  };

/** What the services for runs are built from. */
export interface RunServicesOptions extends Omit<AgentCacheOptions, "circuits"> {
  readonly database: Database;
  readonly log: Log;
  readonly processId: string;
  /** Runs that this process executes at once. */
  readonly maxRuns: number;
  /** Bytes that this process may hold for all workspaces. */
  readonly memoryBytes: number;
  readonly heap: HeapGuard;
  /** false: with the role `api`, which executes nothing. */
  readonly executes: boolean;
}

/** Builds what this process holds for runs. Nothing is claimed before the worker is started. */
export function createRunServices(options: RunServicesOptions): RunServices {
  const { database, log, heap, maxRuns } = options;
  const capacity = new Capacity({ max: maxRuns, executes: options.executes, heap });
  const worker = new WorkerCalls();
  const memory = shareMemory({
    bytes: options.memoryBytes,
    heap,
    // Queued runs were left in the database until there is memory for them.
    onFree: () => {
      capacity.foundQueue({ empty: false });
      worker.claim();
    },
  });
  const wakeUps = openWakeUps(database, log);
  const tail = createTail({ database, wakeUps, log });
  const live = createLiveRuns();
  const subscribers = createSubscribers(database, {
    onFollow: (runId) => wakeUps.tell({ kind: "watch", runId }),
    outputs: memory.outputs,
  });
  const turns = takeTurns();
  const onWritten = () => tail.grew();
  const appends = createAppends(database, { turns, onWritten });
  const agents = new AgentCache({ ...options, circuits: createCircuits(circuitPolicy(maxRuns)) });
  const executePorts = {
    database,
    log,
    agents,
    live,
    subscribers,
    capacity,
    memory,
    worker,
    appends,
    wakeUps,
  };
  return {
    ...executePorts,
    process: new OwnProcess(options.processId),
    tail,
    starts: createStarts(database, { turns, onWritten, full: () => memory.runs.waitingOwners }),
    unanswered: createUnansweredStarts(),
    unsureClaims: new Set(),
    queueLimits: createQueueLimits(database),
    execute: (run) => executeOwned(executePorts, run),
  };
}
