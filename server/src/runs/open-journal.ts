import type { NewEvent, RunEvent } from "@beckon/contract";
import { type Journal, type Outcome, RunStopped } from "../engine/index.ts";
import type { AppendEntry, RunEnd } from "./append-statement.ts";
import { toEntry, toStored } from "./journal-entry.ts";
import type { LiveRun } from "./live-run.ts";
import type { Runtime } from "./runtime.ts";

/** The claim under which this process writes a run. */
export interface Claim {
  readonly runId: string;
  readonly workspaceId: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastSeq: number;
}

/** The journal that the engine writes: durable in the database under the claim's fence, then told to watchers. */
export function openJournal(runtime: Runtime, live: LiveRun, claim: Claim, events: readonly RunEvent[]): Journal {
  let lastSeq = claim.lastSeq;

  async function write(
    entries: readonly AppendEntry[],
    options: { intent: boolean; end: RunEnd | undefined; outcome?: Outcome },
  ): Promise<void> {
    const answer = await runtime.appends.submit({ ...claim, lastSeq, entries, intent: options.intent, end: options.end }, {});
    if (answer.verdict !== "written") throw new RunStopped(answer.verdict);
    const stored = entries.map((entry, index) => toStored(entry, claim.runId, lastSeq + 1 + index, answer.time));
    lastSeq += entries.length;
    live.publish(stored, options.outcome);
  }

  return {
    events,
    append: (added, { intent = false } = {}) => write(added.map(toEntry), { intent, end: undefined }),
    end: (outcome, added) => write([...added, terminalEvent(outcome)].map(toEntry), { intent: false, end: toEnd(outcome), outcome }),
  };
}

function terminalEvent(outcome: Outcome): NewEvent {
  const { usage, cost_micros } = outcome;
  switch (outcome.status) {
    case "succeeded":
      return { type: "run.finished", data: { output: outcome.output, usage, cost_micros } };
    case "failed":
      return { type: "run.failed", data: { error: outcome.error, usage, cost_micros } };
    case "cancelled":
      return { type: "run.cancelled", data: { error: outcome.error, usage, cost_micros } };
  }
}

function toEnd(outcome: Outcome): RunEnd {
  return {
    status: outcome.status,
    output: outcome.status === "succeeded" ? outcome.output : null,
    error: outcome.status === "succeeded" ? null : outcome.error,
    usage: outcome.usage,
    costMicros: outcome.cost_micros,
  };
}
