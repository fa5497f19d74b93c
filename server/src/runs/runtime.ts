import { BriefMap } from "../base/brief-map.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import type { OperatorProviders } from "../base/context.ts";
import { apartIfLarge, type Database, type Gatherer, gather, openWakeUps, takeTurns, type WakeUps } from "../base/database/index.ts";
import type { Transport } from "../base/egress/index.ts";
import type { HeapGuard } from "../base/heap-guard.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/secrets/index.ts";
import { type Circuits, circuitPolicy, createCircuits, type Tool } from "../engine/index.ts";
import { createTail, type Tail } from "../events/index.ts";
import { OwnProcess } from "../processes/index.ts";
import { type AppendAnswer, type AppendRow, appendToRuns } from "./append-statement.ts";
import { Capacity } from "./capacity.ts";
import type { Claimant, LastAttempt } from "./claim-statement.ts";
import { createFollowers, type Followers } from "./followers.ts";
import { createHearers, type Hearers } from "./hearers.ts";
import type { LiveRun } from "./live-run.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { createQueueLimits, type QueueLimits } from "./queue-limits.ts";
import type { RunRef } from "./run.ts";
import { type SharedReads, shareReads } from "./shared-reads.ts";
import type { StartAnswer, StartRow } from "./start-row.ts";
import { startRuns } from "./start-runs.ts";
import { WorkerCalls } from "./worker-calls.ts";

/** What the verbs of runs share inside one process. */
export interface Runtime {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly process: OwnProcess;
  readonly starts: Gatherer<StartRow, StartAnswer>;
  readonly appends: Gatherer<AppendRow, AppendAnswer>;
  /** Runs that this process executes, by id. */
  readonly live: BriefMap<LiveRun>;
  /** Starts that the database has not answered yet, by run id. */
  readonly unanswered: BriefMap<UnansweredStart>;
  /** Claims that had no answer, and may have taken effect or still do. */
  readonly unsureClaims: Set<UnsureClaim>;
  readonly followers: Followers;
  readonly hearers: Hearers;
  readonly sharedReads: SharedReads;
  readonly wakeUps: WakeUps;
  /** For who follows the events of all runs. */
  readonly tail: Tail;
  /** For who is refused: see `queueFull`. */
  readonly queueLimits: QueueLimits;
  readonly prepared: Map<string, PreparedAgent>;
  /** Whether each model answers, as this process sees it. */
  readonly circuits: Circuits;
  /** Tools beside the built-in ones, granted to every agent: the operator's own. */
  readonly extraTools: readonly Tool[];
  /** For what the operator chose: its own providers. */
  readonly outbound: Transport;
  /** For what a workspace chose: its providers, and where its tools go. */
  readonly egress: Transport;
  readonly operator: OperatorProviders | undefined;
  readonly capacity: Capacity;
  /** Bytes that runs hold in memory, by workspace. */
  readonly budget: ByteBudget;
  /**
   * Bytes of large request bodies and responses, by workspace or, before that is known, by
   * credential or address.
   */
  readonly exchanges: ByteBudget;
  readonly heap: HeapGuard;
  readonly worker: WorkerCalls;
}

/** A start whose statement is under way, perhaps on a connection that says no more, while the run it wrote can be claimed. */
export interface UnansweredStart {
  /** The caller was told that nothing was started. */
  refused: boolean;
  /** A claim of this process has found the run: it was started. */
  claimed: (RunRef & { readonly agentId: string }) | undefined;
  /** Resolves when the start has its answer or, refused, when nothing is left of it but a cancelled run. */
  readonly settled: Promise<void>;
}

interface UnsureClaim extends Claimant {
  readonly lastAttempt?: LastAttempt;
  /** On the process's clock. */
  readonly until: number;
}

export interface RuntimeOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly processId?: string | undefined;
  readonly maxRuns: number;
  /** Bytes that this process may hold for all workspaces. */
  readonly memoryBytes: number;
  readonly heap: HeapGuard;
  readonly executes: boolean;
  readonly extraTools?: readonly Tool[] | undefined;
  readonly outbound: Transport;
  readonly egress: Transport;
  readonly operator?: OperatorProviders | undefined;
}

/**
 * Shares of `memoryBytes`; outputs are what models say and readers of streams have not taken yet.
 */
const memory = { runs: 10 / 16, exchanges: 5 / 16, outputs: 1 / 16 };

/** Builds what the verbs of runs share inside one process. */
export function createRuntime(options: RuntimeOptions): Runtime {
  const { database, memoryBytes, heap } = options;
  const capacity = new Capacity({ max: options.maxRuns, executes: options.executes, heap });
  const worker = new WorkerCalls();
  const budget = new ByteBudget({
    maxBytes: memoryBytes * memory.runs,
    // Its queued runs were left to wait in the database.
    onServed: () => {
      capacity.foundQueue({ empty: false });
      worker.claim();
    },
  });
  const exchanges = new ByteBudget({ maxBytes: memoryBytes * memory.exchanges });
  heap.onChange = (isFull) => {
    budget.paused = isFull;
    exchanges.paused = isFull;
    if (!isFull) worker.claim();
  };
  const wakeUps = openWakeUps(database, options.log);
  const tail = createTail({ database, wakeUps, log: options.log });
  const turns = takeTurns();
  const told = async <T>(written: Promise<T>) => {
    const answers = await written;
    tail.grew();
    return answers;
  };
  const appends = {
    write: (rows: readonly AppendRow[]) => told(appendToRuns(database, rows)),
    order: (row: AppendRow) => row.runId,
    bytes: bytesOf,
  };
  return {
    database,
    sealer: options.sealer,
    log: options.log,
    process: new OwnProcess(options.processId ?? newId("prc")),
    starts: gather({
      write: (rows, options) => told(startRuns(database, rows, { ...options, full: budget.waitingOwners })),
      order: (row) => `${row.agentId ?? ""} ${row.key ?? ""}`,
      bytes: (row) => row.payload.length,
      maxRows: 200,
      maxBytes: 8 * 1024 * 1024,
      turns,
    }),
    appends: apartIfLarge({
      bytes: bytesOf,
      maxSmallBytes: 1024 * 1024,
      small: gather({ ...appends, maxRows: 200, maxBytes: 8 * 1024 * 1024, turns }),
      // One at a time, beside the others: starts do not wait for them either.
      large: gather({ ...appends, maxRows: 1, maxBytes: 1 }),
    }),
    live: new BriefMap(),
    unanswered: new BriefMap(),
    unsureClaims: new Set(),
    followers: createFollowers(database, (runId) => wakeUps.tell({ kind: "watch", runId })),
    hearers: createHearers(new ByteBudget({ maxBytes: memoryBytes * memory.outputs })),
    sharedReads: shareReads(database),
    wakeUps,
    tail,
    queueLimits: createQueueLimits(database),
    prepared: new Map(),
    circuits: createCircuits(circuitPolicy(options.maxRuns)),
    extraTools: options.extraTools ?? [],
    outbound: options.outbound,
    egress: options.egress,
    operator: options.operator,
    capacity,
    worker,
    budget,
    exchanges,
    heap,
  };
}

function bytesOf({ entries, end }: AppendRow): number {
  return entries.reduce((sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0), end?.output?.length ?? 0);
}
