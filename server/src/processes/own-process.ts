import { elapsed } from "../base/clock.ts";

/**
 * Part of the lease for which `holdsLease` relies on one renewal. The rest is for the time from the
 * check until the request of a call is sent, and for clocks that run at different speeds. Renewals
 * are a sixth of the lease apart, so the check usually finds most of the lease left.
 */
const reliablePart = 0.75;

/** The identity of this process in the database, and the state of its lease. */
export class OwnProcess {
  #id: string;
  #isLeaseFailing = false;
  /** When the last two successful renewals began, as values of `elapsed()`; the older one first. */
  #renewals: readonly [number, number] = [-Infinity, -Infinity];
  /** Length of the lease. Infinite before `beginLease`: without a lease, it cannot expire. */
  #leaseMs = Infinity;
  /** When the last renewal or registration began, as a value of `elapsed()`. */
  #leaseBegan = 0;
  /** Resolved at the next renewal or registration; undefined if nothing waits for it. */
  #renewed: PromiseWithResolvers<void> | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  /** Id of this process in the table `processes`. It changes if this process is declared dead. */
  get id(): string {
    return this.#id;
  }

  /** Whether the last renewal of the lease failed. */
  get isLeaseFailing(): boolean {
    return this.#isLeaseFailing;
  }

  /** Records that this process has a lease of `leaseMs`, which counts from the first renewal. */
  beginLease(leaseMs: number): void {
    this.#leaseMs = leaseMs;
    this.#leaseBegan = -Infinity;
  }

  /** Records that the lease was renewed by a statement that was sent at `sentAt`. */
  recordRenewal(sentAt: number): void {
    this.#isLeaseFailing = false;
    this.#renewals = [this.#renewals[1], sentAt];
    this.#noteLease(sentAt);
  }

  /** Records that the lease could not be renewed. */
  recordFailedRenewal(): void {
    this.#isLeaseFailing = true;
  }

  /**
   * Whether every transaction whose commit began before `time` is visible by now. A commit can wait
   * without limit for a synchronous standby, and its transaction is invisible meanwhile. Commits
   * end this wait in their order in the WAL. So if a renewal that began after `time` has succeeded,
   * the earlier commits no longer wait either. A second renewal gives them the time to become
   * visible.
   *
   * @param time a value of `elapsed()`
   */
  areCommitsVisible(time: number): boolean {
    return this.#renewals[0] > time;
  }

  /**
   * Sets a new id, after this process was declared dead.
   * @param sentAt when the statement that registered the new id was sent.
   */
  continueAs(id: string, sentAt: number): void {
    this.#id = id;
    this.#noteLease(sentAt);
  }

  /**
   * Returns whether no other process can have taken over the runs that this process owns under the
   * id `owner`. What this process read from the database does not show that: it may have read it
   * late, for example because it was stopped. So this must be checked immediately before a call
   * that has effects outside of Beckon. The time in which the process is stopped counts, the time
   * in which the machine is suspended does not.
   */
  holdsLease(owner: string): boolean {
    return this.#id === owner && this.#isLeaseValid;
  }

  /**
   * Waits, if the lease may have expired, until it is renewed. The renewal fails if other processes
   * have declared this one dead.
   * @returns whether this process still has the id `owner`, so that it still owns its runs.
   */
  async keepsLease(owner: string): Promise<boolean> {
    while (this.#id === owner && !this.#isLeaseValid) {
      this.#renewed ??= Promise.withResolvers();
      await this.#renewed.promise;
    }
    return this.#id === owner;
  }

  /** The lease counts from `sentAt`, because the database may have renewed it that early. */
  #noteLease(sentAt: number): void {
    this.#leaseBegan = sentAt;
    this.#renewed?.resolve();
    this.#renewed = undefined;
  }

  get #isLeaseValid(): boolean {
    return elapsed() - this.#leaseBegan < reliablePart * this.#leaseMs;
  }
}
