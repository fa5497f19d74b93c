import type { HeapGuard } from "../../base/heap-guard.ts";
import { maxRunsOfOne, type Shares, sharesOf } from "./workspace-share.ts";

/**
 * Counts the runs that this process executes, in total and by workspace, and decides whether it
 * accepts more.
 */
export class Capacity {
  /** Maximum number of runs that this process executes at the same time. */
  readonly max: number;
  readonly #heap: Pick<HeapGuard, "isFull">;
  #inUse = 0;
  /** `#inUse` by workspace, without claims in progress and starts of unknown workspaces. */
  readonly #inUseOf = new Map<string, number>();
  /** Reserved for starts whose workspace this process does not know yet. */
  #unknown = 0;
  /** True at first, because it is not known yet whether there are several. */
  #hasSeveralWorkspaces = true;
  /** Workspaces of which runs may be queued because the share of the workspace was in use. */
  #backlogs = new Set<string>();
  #isQueueEmpty = false;
  /** True at first, because runs of processes that died before this one started may be waiting. */
  #hasAbandoned = true;
  #deaths = 0;
  #open: boolean;
  #announced = false;
  #draining = false;

  constructor({
    max,
    executes,
    heap,
  }: { max: number; executes: boolean; heap: Pick<HeapGuard, "isFull"> }) {
    this.max = max;
    this.#open = executes;
    this.#heap = heap;
  }

  /**
   * Whether this process accepts runs. False for a process with the role `api`, and after `drain`
   * was called.
   */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether this process drains or will drain soon. If so, it reports that it is not ready. */
  get isDrainAnnounced(): boolean {
    return this.#announced;
  }

  /** Whether this process is stopping and accepts no more runs. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /**
   * Whether older runs may be waiting, in the queue or of dead processes, which a new run must not
   * overtake. The queue counts as empty if it was empty according to the last call of `foundQueue`,
   * and no run was queued since then while this process had no free capacity. Runs that wait for
   * the share of their workspace do not count: see `hasBacklog`.
   */
  get hasOlderRuns(): boolean {
    return !this.#isQueueEmpty || this.#hasAbandoned;
  }

  /**
   * Whether runs of dead processes may wait for capacity of this process. They get it before queued
   * runs.
   */
  get hasAbandoned(): boolean {
    return this.#hasAbandoned;
  }

  /** Number of runs that this process can accept now. */
  get free(): number {
    return this.#open && !this.#heap.isFull ? Math.max(0, this.max - this.#inUse) : 0;
  }

  /** Maximum number of runs of one workspace, apart from runs of dead processes. */
  get #maxOfOne(): number {
    return maxRunsOfOne(this.max, this.#hasSeveralWorkspaces);
  }

  /**
   * Reserves capacity for a new run if the run can execute at once. The caller calls `endStart`
   * when the result of the start is known.
   * @param workspaceId undefined if the workspace is not known yet. The run could be of any
   *   workspace, so it counts for each of them.
   * @returns whether capacity was reserved.
   */
  tryReserve(workspaceId?: string): boolean {
    if (this.hasOlderRuns || this.free === 0) return false;
    if (this.#inUseOfOne(workspaceId) + this.#unknown >= this.#maxOfOne) return false;
    if (workspaceId === undefined) {
      this.#inUse += 1;
      this.#unknown += 1;
      return true;
    }
    if (this.#backlogs.has(workspaceId)) return false;
    this.reserve(1, workspaceId);
    return true;
  }

  /** Returns how many runs the workspace has; if it is unknown, the highest number that one has. */
  #inUseOfOne(workspaceId: string | undefined): number {
    if (workspaceId !== undefined) return this.#inUseOf.get(workspaceId) ?? 0;
    let max = 0;
    if (this.#hasSeveralWorkspaces)
      for (const runs of this.#inUseOf.values()) max = Math.max(max, runs);
    return max;
  }

  /**
   * Releases what `tryReserve(reservedFor)` has reserved, unless this process executes the run.
   * @param runOf workspace of the run that this process executes; undefined if it executes none.
   */
  endStart(reservedFor: string | undefined, runOf: string | undefined): void {
    if (reservedFor === undefined) this.#unknown -= 1;
    else if (runOf !== undefined) return;
    this.release(1, reservedFor);
    if (runOf !== undefined) this.reserve(1, runOf);
  }

  /**
   * Reserves capacity for runs without checking `free`. Runs that are claimed only to be ended can
   * exceed `max`, and runs of dead processes the share of their workspace.
   * @param workspaceId undefined for a claim in progress, which can take runs of any workspace.
   */
  reserve(count: number, workspaceId?: string): void {
    this.#inUse += count;
    if (workspaceId === undefined) return;
    const inUse = (this.#inUseOf.get(workspaceId) ?? 0) + count;
    this.#inUseOf.set(workspaceId, inUse);
    // The claim that took these runs may have left some. If the share is the whole capacity,
    // `hasOlderRuns` says so.
    if (inUse >= this.#maxOfOne && this.#maxOfOne < this.max) this.#backlogs.add(workspaceId);
  }

  /** Releases what was reserved with the same arguments. */
  release(count: number, workspaceId?: string): void {
    this.#inUse -= count;
    if (workspaceId === undefined) return;
    const left = (this.#inUseOf.get(workspaceId) ?? 0) - count;
    if (left > 0) this.#inUseOf.set(workspaceId, left);
    else this.#inUseOf.delete(workspaceId);
  }

  /** Returns how many runs of each workspace a claim of up to `maxRuns` queued runs can take. */
  shares(maxRuns: number): Shares {
    return sharesOf(this.#inUseOf, { maxOfOne: this.#maxOfOne, maxRuns });
  }

  /**
   * Whether runs of this workspace may be queued because its share was in use. If so, its new runs
   * are queued, too, and this process claims when one of its runs has ended.
   */
  hasBacklog(workspaceId: string): boolean {
    return this.#backlogs.has(workspaceId);
  }

  /** Records whether several workspaces have agents. If not, the only one can use all capacity. */
  foundWorkspaces({ several }: { readonly several: boolean }): void {
    this.#hasSeveralWorkspaces = several;
  }

  /**
   * Records that a run was queued. With free capacity, `hasOlderRuns` stays as it is: the caller
   * makes this process claim, and the claim finds out whether runs are left. Otherwise a single
   * queued run would make all processes queue their new runs, each of which would do the same.
   * @param workspaceId undefined if runs of several workspaces may have been queued.
   * @returns false if a claim would take no such run, because the workspace has no share left.
   */
  noteQueued(workspaceId?: string): boolean {
    if (this.free === 0) this.#isQueueEmpty = false;
    if (workspaceId === undefined || this.#inUseOfOne(workspaceId) < this.#maxOfOne) return true;
    this.#backlogs.add(workspaceId);
    return false;
  }

  /**
   * Records whether the queue is empty, as found by a claim.
   * @param options.full workspaces of which the claim took no runs, because their share was in use.
   */
  foundQueue({
    empty,
    full = [],
  }: {
    readonly empty: boolean;
    readonly full?: readonly string[];
  }): void {
    this.#isQueueEmpty = empty;
    if (empty) this.#backlogs.clear();
    for (const workspaceId of [...full, ...this.shares(1).full]) this.#backlogs.add(workspaceId);
  }

  /** How often `foundDeaths` was called. */
  get deaths(): number {
    return this.#deaths;
  }

  /** Records that processes were declared dead, whose runs may wait for capacity. */
  foundDeaths(): void {
    this.#deaths += 1;
    this.#hasAbandoned = true;
  }

  /**
   * Records whether abandoned runs may wait for capacity, as found by a failover.
   * @param options.deaths value of `deaths` when the failover began. If it has grown, the failover
   *   may have missed runs, so the result is not recorded.
   */
  foundAbandoned({
    waiting,
    deaths,
  }: {
    readonly waiting: boolean;
    readonly deaths: number;
  }): void {
    if (deaths === this.#deaths) this.#hasAbandoned = waiting;
  }

  /** Makes readiness checks fail, permanently. Runs are still accepted. */
  announceDrain(): void {
    this.#announced = true;
  }

  /** Stops accepting runs, permanently. */
  drain(): void {
    this.#announced = true;
    this.#draining = true;
    this.#open = false;
  }
}
