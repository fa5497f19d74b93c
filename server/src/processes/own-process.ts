/** The identity of this process in the database, and whether its lease is being renewed. */
export class OwnProcess {
  #id: string;
  #isLeaseFailing = false;
  /** When the last two successful renewals began, as values of `elapsed()`; the older one first. */
  #renewals: readonly [number, number] = [-Infinity, -Infinity];

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

  /** Records that the lease was renewed by a statement that was sent at `sentAt`. */
  recordRenewal(sentAt: number): void {
    this.#isLeaseFailing = false;
    this.#renewals = [this.#renewals[1], sentAt];
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

  /** Sets a new id, after this process was declared dead. */
  continueAs(id: string): void {
    this.#id = id;
  }
}
