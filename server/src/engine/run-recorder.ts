import type { NewEvent } from "@beckon/contract";
import { openCalls, usageOf } from "./history.ts";
import type { Journal } from "./journal.ts";
import { closeCalls } from "./lost-run.ts";
import type { Ending } from "./stop-conditions.ts";

/**
 * The loop's interface to the journal. It has the durable entries, and the deferred entries, which
 * are written together with the end of the run. This is a class and not an object with closures,
 * because there is one for each run and an instance costs less garbage collection
 * (docs/decisions/0012-what-is-brief-dies-young.md).
 *
 * It makes one write at a time. After a rejected write no further append is tried. The answers and
 * tool results of rejected appends are deferred to the end of the run, so that a cancelled run
 * still shows what was paid for. Their intents (`run.tool_call` events) are dropped.
 */
export class RunRecorder {
  readonly #journal: Journal;
  readonly #entries: NewEvent[];
  readonly #deferred: NewEvent[] = [];
  #previousWrite = nothingWritten;
  #nextWrite: { readonly group: NewEvent[]; readonly written: Promise<void> } | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#entries = [...journal.events];
  }

  /** Durable entries, in order. */
  get entries(): readonly NewEvent[] {
    return this.#entries;
  }

  /** Keeps entries for the write that ends the run. */
  defer(entries: readonly NewEvent[]): void {
    this.#deferred.push(...entries);
  }

  /**
   * Resolves when the entries are durable. Entries that are appended during a write are written
   * together after it.
   */
  append(entries: readonly NewEvent[]): Promise<void> {
    if (this.#nextWrite !== undefined) {
      this.#nextWrite.group.push(...entries);
      return this.#nextWrite.written;
    }
    const group = [...entries];
    const begin = () => {
      this.#nextWrite = undefined;
      return this.#write(group);
    };
    const written = this.#previousWrite.then(begin, (thrown) => this.#deferAndThrow(group, thrown));
    this.#nextWrite = { group, written };
    this.#previousWrite = written;
    return written;
  }

  /** Ends the run. Tool calls without a result get the outcome `unknown`. */
  end(ending: Ending): Promise<void> {
    const last = [
      ...this.#deferred,
      ...closeCalls(openCalls([...this.#entries, ...this.#deferred]), unknownOutcome),
    ];
    // `cost_micros` is null because no price is known; 0 would mean that the run was free.
    return this.#journal.end(
      { ...ending, usage: usageOf([...this.#entries, ...last]), cost_micros: null },
      last,
    );
  }

  async #write(group: readonly NewEvent[]): Promise<void> {
    const intent = group.some((entry) => entry.type === "run.tool_call");
    await this.#journal
      .append(group, intent ? { intent } : {})
      .catch((thrown) => this.#deferAndThrow(group, thrown));
    this.#entries.push(...group);
  }

  #deferAndThrow(group: readonly NewEvent[], thrown: unknown): never {
    this.defer(group.filter((entry) => entry.type !== "run.tool_call"));
    throw thrown;
  }
}

const nothingWritten = Promise.resolve();

const unknownOutcome =
  "The run was stopped before the tool answered. The call may or may not have taken effect.";
