import type { NewEvent, RunEvent } from "@beckon/contract";
import type { ProcessMessages } from "../../base/database/index.ts";
import { type Journal, type Outcome, RunStopped } from "../../engine/index.ts";
import type { AppendRow, Appends } from "../journal/index.ts";
import { terminalEvent, toEnd, toEntry, toStored } from "../journal/index.ts";
import type { LiveRun } from "../subscribing/index.ts";

/** What writing a run's journal needs of this process. */
export interface JournalPorts {
  readonly appends: Appends;
  readonly processMessages: Pick<ProcessMessages, "send">;
}

/** The claim under which this process writes a run. */
export interface Claim {
  readonly runId: string;
  readonly workspaceId: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastSeq: number;
}

/** The journal that the engine writes: durable in the database under the claim's fence, then told to watchers. */
export interface OwnedJournal extends Journal {
  /** Queues the run again, for any process, at no cost of an attempt. The engine has stopped and writes nothing any more. */
  release(): Promise<void>;
}

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
