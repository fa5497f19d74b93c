import type { NewEvent, RunEvent } from "@beckon/contract";
import type { ProcessMessages } from "../../base/database/index.ts";
import { type Journal, type Outcome, RunStopped } from "../../engine/index.ts";
import type { AppendRow, Appends } from "../journal/index.ts";
import { terminalEvent, toEnd, toEntry, toStored } from "../journal/index.ts";
import type { LiveRun } from "../subscribing/index.ts";

/** The services that writing a run's journal needs. */
export interface JournalPorts {
  readonly appends: Appends;
  readonly processMessages: Pick<ProcessMessages, "send">;
}

/** The claim with which this process writes a run. */
export interface Claim {
  readonly runId: string;
  readonly workspaceId: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastSeq: number;
}

/**
 * The journal of a run that this process owns. Entries are committed with the claim's fence, then
 * published. A class because there is one per run (decision 12).
 */
export class RunJournal implements Journal {
  readonly events: readonly RunEvent[];
  readonly #ports: JournalPorts;
  readonly #live: LiveRun;
  readonly #claim: Claim;
  #lastSeq: number;

  /** @param events the journal so far, if the run is resumed. */
  constructor(ports: JournalPorts, live: LiveRun, claim: Claim, events: readonly RunEvent[]) {
    this.events = events;
    this.#ports = ports;
    this.#live = live;
    this.#claim = claim;
    this.#lastSeq = claim.lastSeq;
  }

  append(added: readonly NewEvent[], { intent = false } = {}): Promise<void> {
    return this.#write(added, { intent, end: undefined });
  }

  end(outcome: Outcome, added: readonly NewEvent[]): Promise<void> {
    const entries = [...added, terminalEvent(outcome)];
    return this.#write(entries, { intent: false, end: toEnd(outcome) }, outcome);
  }

  /**
   * Releases the run: it is queued again for any process, which does not count as an attempt. The
   * engine must have stopped, since no entry can be written afterwards.
   */
  release(): Promise<void> {
    const queued: NewEvent = { type: "run.queued", data: {} };
    return this.#write([queued], { intent: false, end: undefined, release: true });
  }

  async #write(
    added: readonly NewEvent[],
    options: Pick<AppendRow, "intent" | "end" | "release">,
    outcome?: Outcome,
  ): Promise<void> {
    const { runId } = this.#claim;
    const lastSeq = this.#lastSeq;
    const entries = added.map(toEntry);
    const row = { ...this.#claim, ...options, lastSeq, entries };
    const result = await this.#ports.appends.submit(row);
    if (result.kind !== "written") throw new RunStopped(result.kind);
    const { time } = result;
    const stored = added.map((event, index) =>
      toStored(event, entries[index] ?? toEntry(event), runId, lastSeq + 1 + index, time),
    );
    this.#lastSeq = lastSeq + entries.length;
    this.#live.publish(stored, outcome);
    if (this.#live.hasRemoteSubscribers)
      this.#ports.processMessages.send({ kind: "journal", runId });
  }
}
