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

/** The journal of an owned run. Entries are committed with the claim's fence, then published. */
export interface OwnedJournal extends Journal {
  /**
   * Releases the run: it is queued again for any process, which does not count as an attempt. The
   * engine must have stopped, since no entry can be written afterwards.
   */
  release(): Promise<void>;
}

/**
 * Opens the journal of a run that this process owns.
 * @param events the journal so far, if the run is resumed.
 */

export function openJournal(
  ports: JournalPorts,
  live: LiveRun,
  claim: Claim,
  events: readonly RunEvent[],
): OwnedJournal {
  let lastSeq = claim.lastSeq;

  async function write(
    added: readonly NewEvent[],
    options: Pick<AppendRow, "intent" | "end" | "release">,
    outcome?: Outcome,
  ): Promise<void> {
    const entries = added.map(toEntry);
    const result = await ports.appends.submit({ ...claim, ...options, lastSeq, entries });
    if (result.kind !== "written") throw new RunStopped(result.kind);
    const { time } = result;
    const stored = added.map((event, index) =>
      toStored(event, entries[index] ?? toEntry(event), claim.runId, lastSeq + 1 + index, time),
    );
    lastSeq += entries.length;
    live.publish(stored, outcome);
    if (live.hasRemoteSubscribers)
      ports.processMessages.send({ kind: "journal", runId: claim.runId });
  }

  return {
    events,
    append: (added, { intent = false } = {}) => write(added, { intent, end: undefined }),
    end: (outcome, added) =>
      write([...added, terminalEvent(outcome)], { intent: false, end: toEnd(outcome) }, outcome),
    release: () =>
      write([{ type: "run.queued", data: {} }], { intent: false, end: undefined, release: true }),
  };
}
