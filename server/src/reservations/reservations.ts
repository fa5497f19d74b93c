import { LRUCache } from "lru-cache";
import { untilWoken } from "../base/abort.ts";
import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
  retryWhileLost,
} from "../base/database/index.ts";
import { type Limit, noAmounts } from "./budget.ts";
import { type AskingRun, type ReserveResult, reserveForRuns } from "./reserve.ts";
import type { ReachedStatement } from "./thresholds.ts";
import { type WaitingClaim, writeWaitRecord } from "./wait-record-statement.ts";

/** The result of a reservation that does not have to wait. */
export type Reserved = Exclude<ReserveResult, { readonly kind: "waits" }>;

/**
 * Time after which a waiting run asks the database again if nothing has woken it. It must be
 * shorter than `waiterTimeoutSeconds`, after which the run loses its position in the queue.
 */
const pollIntervalMs = 5_000;

/**
 * Maximum number of runs that one wake lets ask again, for each set of budgets that runs wait for.
 * It limits the load on the database. When one of these runs no longer waits, it wakes the next
 * ones.
 */
const maxWoken = 16;

/** Maximum number of workspaces with limits in the cache of a process. */
const maxWorkspaces = 50_000;

/** A run of this process that waits until other runs return what they have reserved. */
interface Waiter {
  /** The ids of the budgets for which the run waits, joined to one text. */
  blockedAt: string;
  /** The run's agent if the run waits only for ceilings of its agent; otherwise undefined. */
  agentId: string | undefined;
  /** Lets the run ask again; undefined while it is asking. */
  wake: (() => void) | undefined;
}

/** The runs of one workspace that request a reservation now, or wait for one. */
interface Queue {
  /** Number of calls of `reserve` that have not returned. */
  runs: number;
  /** Number of wakes so far, to notice a wake during a request. */
  wakes: number;
  /** In the order in which the runs began to wait. */
  readonly waiters: Set<Waiter>;
}

/**
 * Reserves, for the runs of this process, the maximum amounts that their model calls can use. Runs
 * that ask at the same time share one transaction. If too little of a budget is free, the run waits
 * here, in memory, and asks again when other runs return amounts or a limit changes.
 */
export class Reservations {
  readonly #batcher: Batcher<AskingRun & { readonly order: string }, ReserveResult>;
  readonly #queues = new Map<string, Queue>();
  /** The `revision` of each workspace that is known to have a limit. */
  readonly #limited = new LRUCache<string, number>({ max: maxWorkspaces });
  /** The ids of the runs for which something was reserved, by this process or at their start. */
  readonly #holding = new Set<string>();
  /**
   * The ids of the runs that wait for their providers or for memory. Apart from `#holding`: after
   * the wait, a run without limits has no reservation any more.
   */
  readonly #recorded = new Set<string>();
  /** The workspaces of claimed runs that have not asked yet, by the ids of the runs. */
  readonly #claimed = new Map<string, string>();
  readonly #database: Database;
  readonly #onNoneWaiting: () => void;
  #revisions = 0;
  #asked = 0;

  /**
   * @param mutex is shared with the other writers that lock budgets: they write in turns.
   * @param reached reports limits into which a call does not fit.
   * @param onNoneWaiting called when a workspace's last waiting run no longer waits, or an agent's
   *   last one that waits for a ceiling of the agent: `blocked` then no longer contains this id.
   * @param withKnownTimeZones calls a function again if a time zone is unknown: the start of a
   *   budget's period needs that of the workspace.
   */
  constructor(
    database: Database,
    mutex: Mutex,
    reached: ReachedStatement,
    onNoneWaiting: () => void = () => {},
    withKnownTimeZones: <T>(act: () => Promise<T>) => Promise<T> = (act) => act(),
  ) {
    this.#database = database;
    this.#onNoneWaiting = onNoneWaiting;
    this.#batcher = createBatcher({
      write: (runs) => withKnownTimeZones(() => reserveForRuns(database, reached, runs)),
      // Runs stay in the order of arrival: first come, first served. This causes no deadlocks: the
      // statements lock budgets in the order of the primary key, whatever the order of the runs.
      order: ({ order }) => order,
      // An estimate for three ids, five amounts and the ids of some budgets.
      bytes: () => 500,
      maxRows: 200,
      maxBytes: 1024 * 1024,
      mutex,
    });
  }

  /**
   * Returns whether the workspace has a limit, as far as this process knows. It finds out when it
   * starts or claims a run, writes a journal or reserves, and from messages about changed limits.
   */
  isLimited(workspaceId: string): boolean {
    return this.revision(workspaceId) !== undefined;
  }

  /**
   * Returns a number that is different whenever limits of the workspace may have changed. Undefined
   * if the workspace has no limit, as far as `isLimited` knows.
   */
  revision(workspaceId: string): number | undefined {
    return this.#limited.get(workspaceId);
  }

  /** Returns the ids of the workspaces that have a limit, as far as this process knows. */
  limited(): Iterable<string> {
    return this.#limited.keys();
  }

  /**
   * Returns whether the run has a reservation, as far as this process knows: something was reserved
   * for it, or it waits for its provider or for memory. The run's writes to the journal must then
   * end the reservation, even if no limit applies or the limits were deleted since.
   */
  holds(runId: string): boolean {
    return this.#holding.has(runId) || this.#recorded.has(runId);
  }

  /** Records that the run has a reservation that this object did not make. */
  noteReserved(runId: string): void {
    this.#holding.add(runId);
  }

  /**
   * Returns to the budgets what was reserved for the first call of a run when it was started. A run
   * that waits for memory must not hold amounts that other runs need to continue. The caller must
   * then call `wakeWaiting` in this process and in the other processes.
   * @throws the reason of `signal` when it aborts.
   */
  async returnFirstCall(
    { runId, workspaceId, owner, fence }: Omit<AskingRun, "call">,
    signal: AbortSignal,
  ): Promise<void> {
    const call = { maxOutputTokens: 0, amountsOf: () => noAmounts, used: noAmounts };
    await this.reserve({ runId, workspaceId, owner, fence, call }, signal);
  }

  /**
   * Records durably that a run waits for its model's provider or for memory, so that no model call
   * is in flight, or that this is no longer so. The run keeps what it has reserved.
   * @throws the reason of `signal` if it aborts while the database is unavailable.
   */
  async recordWait(run: WaitingClaim, isWaiting: boolean, signal: AbortSignal): Promise<void> {
    if (isWaiting) this.#recorded.add(run.runId);
    await retryWhileLost(() => writeWaitRecord(this.#database, run, isWaiting), signal);
    if (!isWaiting) this.#recorded.delete(run.runId);
  }

  /** Must be called once this process no longer works on the run. */
  forget(runId: string): void {
    this.#holding.delete(runId);
    this.#recorded.delete(runId);
    this.#claimed.delete(runId);
  }

  /** Records that this process claimed a run of a workspace with limits. */
  noteClaimed({ runId, workspaceId }: Pick<AskingRun, "runId" | "workspaceId">): void {
    this.noteLimited(workspaceId, true);
    this.#claimed.set(runId, workspaceId);
  }

  /** Number of runs of this process that wait for a limit. */
  get waitingRuns(): number {
    let runs = 0;
    for (const { waiters } of this.#queues.values()) runs += waiters.size;
    return runs;
  }

  /**
   * Returns the workspaces whose runs wait in this process. The values are the numbers of their
   * runs that wait or may have to: those that have asked without a result yet, and those that were
   * claimed and have not asked. If these did not count, claims would continue until the first of
   * many claimed runs waits.
   */
  waiting(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [workspaceId, { runs, waiters }] of this.#queues)
      if (waiters.size > 0) counts.set(workspaceId, runs);
    if (counts.size === 0) return counts;
    for (const workspaceId of this.#claimed.values()) {
      const count = counts.get(workspaceId);
      if (count !== undefined) counts.set(workspaceId, count + 1);
    }
    return counts;
  }

  /**
   * Returns the id of the workspace if runs of it wait in this process. If all of them wait for
   * ceilings of their agents, returns the ids of these agents instead: the runs of the workspace's
   * other agents need not wait.
   */
  blocked(workspaceId: string): readonly string[] {
    const waiters = this.#queues.get(workspaceId)?.waiters ?? [];
    const ids = new Set(Array.from(waiters, ({ agentId }) => agentId ?? workspaceId));
    return ids.has(workspaceId) ? [workspaceId] : [...ids];
  }

  /** Records whether the workspace has a limit. */
  noteLimited(workspaceId: string, isLimited: boolean): void {
    if (!isLimited) this.#limited.delete(workspaceId);
    else if (!this.isLimited(workspaceId)) this.#revise(workspaceId);
  }

  /**
   * Reserves what the next model call of a run can use. Waits while other runs hold what it needs.
   * @param onWait called with the limit for which the run waits, each time that it begins to wait.
   * @throws the reason of `signal` when it aborts. The amounts that the run holds at that time are
   *   returned when the run ends.
   */
  async reserve(
    run: AskingRun,
    signal: AbortSignal,
    onWait: (limit: Limit) => void = () => {},
  ): Promise<Reserved> {
    const { workspaceId } = run;
    this.#claimed.delete(run.runId);
    const queue = this.#queues.get(workspaceId) ?? { runs: 0, wakes: 0, waiters: new Set() };
    this.#queues.set(workspaceId, queue);
    queue.runs += 1;
    let waiter: Waiter | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        const { wakes } = queue;
        const result = await this.#ask(run);
        if (result.kind !== "waits") {
          // Other runs that wait for the same budgets may now get what they ask for, or be rejected
          // for the same reason.
          if (waiter !== undefined) wakeGroup(queue, waiter.blockedAt);
          return result;
        }
        const { limits, blockedAt } = result;
        onWait(limits[0]);
        waiter ??= { blockedAt: "", agentId: undefined, wake: undefined };
        waiter.blockedAt = blockedAt.join(" ");
        const isOfAgent = limits.every(({ scope }) => scope === "agent");
        waiter.agentId = isOfAgent ? limits[0].scopeId : undefined;
        queue.waiters.add(waiter);
        // If there was a wake during the request, the run asks again at once: the request may have
        // read the budgets before the change that the wake announces. As with every wake, only the
        // first `maxWoken` runs ask again. If hundreds did, their requests would still be in
        // progress at the next wake, and all of them would ask again.
        const isWoken = queue.wakes !== wakes && firstOf(queue, waiter.blockedAt).includes(waiter);
        if (!isWoken) await waitForWake(waiter, signal);
      }
    } finally {
      queue.runs -= 1;
      if (queue.runs === 0) this.#queues.delete(workspaceId);
      if (waiter !== undefined && queue.waiters.delete(waiter)) {
        const { agentId } = waiter;
        const areOthers = [...queue.waiters].some((other) => other.agentId === agentId);
        if (!areOthers) this.#onNoneWaiting();
      }
    }
  }

  /**
   * Lets waiting runs ask again, because a limit was changed. The limit may be new, and a
   * reservation made before does not count against it. So all runs of the workspace request a
   * reservation again before their next attempt, including those that hold one. Until one of these
   * requests finds no limit, the workspace counts as limited.
   */
  wake(workspaceId: string): void {
    this.#revise(workspaceId);
    this.wakeWaiting(workspaceId);
  }

  /** Lets waiting runs ask again, because a part of a reservation was returned. */
  wakeWaiting(workspaceId: string): void {
    const queue = this.#queues.get(workspaceId);
    if (queue === undefined) return;
    queue.wakes += 1;
    for (const group of new Set([...queue.waiters].map(({ blockedAt }) => blockedAt)))
      wakeGroup(queue, group);
  }

  #revise(workspaceId: string): void {
    this.#revisions += 1;
    this.#limited.set(workspaceId, this.#revisions);
  }

  async #ask(run: AskingRun): Promise<ReserveResult> {
    this.#asked += 1;
    const order = String(this.#asked).padStart(16, "0");
    const revision = this.revision(run.workspaceId);
    const result = await this.#batcher.submit({ ...run, order });
    if (result.kind === "fenced") return result;
    if (result.kind === "granted") this.#holding.add(run.runId);
    // A result without a limit is recorded only if the revision is unchanged. Otherwise the request
    // may have read the budgets before a new limit was added.
    if (result.isLimited || this.revision(run.workspaceId) === revision)
      this.noteLimited(run.workspaceId, result.isLimited);
    return result;
  }
}

function wakeGroup(queue: Queue, blockedAt: string): void {
  for (const { wake } of firstOf(queue, blockedAt)) wake?.();
}

/**
 * Returns up to `maxWoken` of the runs that wait for the budgets `blockedAt`: those that have
 * waited longest. Some of them may have a request in progress; their `wake` is undefined.
 */
function firstOf({ waiters }: Queue, blockedAt: string): Waiter[] {
  const first: Waiter[] = [];
  for (const waiter of waiters)
    if (waiter.blockedAt === blockedAt && first.push(waiter) === maxWoken) break;
  return first;
}

/** Resolves when the waiter is woken, after the poll interval, or when `signal` aborts. */
function waitForWake(waiter: Waiter, signal: AbortSignal): Promise<void> {
  return untilWoken(signal, (wake) => {
    const timer = setTimeout(wake, pollIntervalMs);
    waiter.wake = wake;
    return () => {
      clearTimeout(timer);
      waiter.wake = undefined;
    };
  });
}
