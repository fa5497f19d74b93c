/** The identity of this process in the database, and whether its lease is being renewed. */
export class OwnProcess {
  #id: string;
  #isLeaseFailing = false;

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

  /** Records whether the lease could be renewed. */
  recordRenewal({ succeeded }: { readonly succeeded: boolean }): void {
    this.#isLeaseFailing = !succeeded;
  }

  /** Sets a new id, after this process was declared dead. */
  continueAs(id: string): void {
    this.#id = id;
  }
}
