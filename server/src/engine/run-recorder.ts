import type { NewEvent } from "@beckon/contract";
import { costOf, openCalls, usageOf } from "./history.ts";
import type { Journal } from "./journal.ts";
import { closeCalls, type ReportingEvent } from "./lost-run.ts";
import { type MeteredCall, type ReportedCall, spentBy } from "./metered-call.ts";
import { sumMicros } from "./price.ts";
import type { Ending } from "./stop-conditions.ts";
import { totalUsage } from "./usage.ts";

/**
 * The interface of `executeRun` to the journal. It has the durable entries, and the deferred
 * entries, which are written together with the end of the run. This is a class and not an object
 * with closures, because there is one for each run and an instance costs less garbage collection
 * (docs/decisions/0012-what-is-brief-dies-young.md).
 *
 * It makes one write at a time. After a rejected write no further append is tried. The answers and
 * tool results of rejected appends are deferred to the end of the run, so that a cancelled run
 * still shows what was paid for. Intents (`run.tool_call` events) in rejected appends are dropped,
 * because their tools were not called.
 */
export class RunRecorder {
  readonly #journal: Journal;
  readonly #entries: NewEvent[];
  readonly #deferred: NewEvent[] = [];
  /** The metered calls that events report, including events that are not written yet. */
  readonly #calls = new Map<NewEvent, readonly MeteredCall[]>();
  readonly #unmade = new Set<string>();
  /** The metered calls that the event at the end of the run reports. */
  #lastCalls: readonly MeteredCall[] = [];
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

  /**
   * The ids of the tool calls whose intent this process has written, and whose tool it has not
   * called. They were certainly not made.
   */
  get unmadeCalls(): ReadonlySet<string> {
    return this.#unmade;
  }

  /** The metered calls that the deferred entries report. */
  get deferredCalls(): readonly MeteredCall[] {
    return this.#callsOf(this.#deferred).map(({ call }) => call);
  }

  /** The metered calls that the end of the run reports. */
  get unwrittenCalls(): readonly MeteredCall[] {
    return [...this.deferredCalls, ...this.#lastCalls];
  }

  /**
   * Remembers the metered calls that an event reports. They are written together with the event.
   * @returns the event.
   */
  report({ event, calls }: ReportingEvent): NewEvent {
    this.#calls.set(event, calls);
    return event;
  }

  /**
   * Keeps the metered calls of a model call that has no event of its own. The event that ends the
   * run reports them.
   */
  reportAtEnd(calls: readonly MeteredCall[]): void {
    this.#lastCalls = calls;
  }

  /** Records that a tool is about to be called. From then on the call may take effect. */
  beginCall(callId: string): void {
    this.#unmade.delete(callId);
  }

  /** Keeps entries for the write that ends the run. */
  defer(entries: readonly NewEvent[]): void {
    addAll(this.#deferred, entries);
  }

  /**
   * Resolves when the entries are durable. Entries that are appended during a write are written
   * together after it.
   */
  append(entries: readonly NewEvent[]): Promise<void> {
    if (this.#nextWrite !== undefined) {
      addAll(this.#nextWrite.group, entries);
      return this.#nextWrite.written;
    }
    const group = [...entries];
    const begin = () => {
      this.#nextWrite = undefined;
      return this.#write(group);
    };
    const skip = (thrown: unknown) => {
      this.#nextWrite = undefined;
      return this.#deferAndThrow(group, thrown);
    };
    const written = this.#previousWrite.then(begin, skip);
    this.#nextWrite = { group, written };
    this.#previousWrite = written;
    return written;
  }

  /** Ends the run. Tool calls without a result get one: see `closeCalls`. */
  end(ending: Ending): Promise<void> {
    const open = openCalls([...this.#entries, ...this.#deferred]);
    const last = [...this.#deferred, ...closeCalls(open, unknownOutcome, this.#unmade)];
    const entries = [...this.#entries, ...last];
    const spent = spentBy(this.#lastCalls);
    const lastCalls = this.#lastCalls.map((call) => ({ entry: last.length, call }));
    return this.#journal.end(
      {
        ...ending,
        usage: totalUsage([usageOf(entries), spent.usage]),
        cost_micros: sumMicros([costOf(entries), spent.cost_micros]),
      },
      last,
      [...this.#callsOf(last), ...lastCalls],
    );
  }

  #callsOf(entries: readonly NewEvent[]): ReportedCall[] {
    return entries.flatMap(
      (event, entry) => this.#calls.get(event)?.map((call) => ({ entry, call })) ?? [],
    );
  }

  async #write(group: readonly NewEvent[]): Promise<void> {
    // After a cancellation no tool may be called.
    const unlessCancelled = group.some((entry) => entry.type === "run.tool_call");
    await this.#journal
      .append(group, { unlessCancelled, calls: this.#callsOf(group) })
      .catch((thrown) => this.#deferAndThrow(group, thrown));
    addAll(this.#entries, group);
    for (const entry of group)
      if (entry.type === "run.tool_call") this.#unmade.add(entry.data.call_id);
  }

  #deferAndThrow(group: readonly NewEvent[], thrown: unknown): never {
    this.defer(group.filter((entry) => entry.type !== "run.tool_call"));
    throw thrown;
  }
}

const nothingWritten = Promise.resolve();

/**
 * Appends entries to a list. `list.push(...entries)` would overflow the call stack from about
 * 125,000 entries on, which an answer of 4 MiB can have.
 */
function addAll(list: NewEvent[], entries: readonly NewEvent[]): void {
  for (const entry of entries) list.push(entry);
}

const unknownOutcome =
  "The run was stopped before the tool answered. The call may or may not have taken effect.";
