/** This process as the database and the other processes know it. */
export class OwnProcess {
  #id: string;
  #leaseFailing = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** In `processes`. Another one after this process was declared dead. */
  get id(): string {
    return this.#id;
  }

  /** Whether the last renewal of the lease failed. */
  get leaseFailing(): boolean {
    return this.#leaseFailing;
  }

  /** Records whether the lease could be renewed. */
  renewed(succeeded: boolean): void {
    this.#leaseFailing = !succeeded;
  }

  /** This process was declared dead and continues under another id. */
  continueAs(id: string): void {
    this.#id = id;
  }
}
