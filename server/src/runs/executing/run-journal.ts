import type { NewEvent, RunEvent } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";
import type { ProcessMessages } from "../../base/database/index.ts";
import {
  type Journal,
  type Outcome,
  type ReportedCall,
  type ReportingEvent,
  RunStopped,
} from "../../engine/index.ts";
import type { AppendRow, Appends } from "../journal/index.ts";
import { finalEvent, toEnd, toEntry, toStored } from "../journal/index.ts";
import type { RunReports } from "../reports.ts";
import type { LiveRun } from "../subscribing/index.ts";

/** The services that are needed to write the journal of a run. */
export interface JournalPorts {
  readonly appends: Appends;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly reports: RunReports;
}

/** The claim that allows this process to write to a run's journal. */
export interface Claim {
  readonly runId: string;
  readonly workspaceId: string;
  readonly owner: string;
  readonly fence: number;
  readonly lastSeq: number;
  readonly agentId: string;
  /**
   * Time from the start of the run to this claim, in milliseconds by the database's clock; 0 if
   * this process created the run running. The time in which no process could execute the run is not
   * included: from its release to the next claim, and from the recorded exit of its owner, or the
   * end of the owner's lease if that was earlier, to the failover. A run that was held starts anew.
   */
  readonly elapsedMs: number;
}

/** What a `RunJournal` needs to know besides the claim. */
export interface JournalOptions {
  /**
   * The entries that the journal already has, if the run is resumed. Default: none.
   */
  readonly events?: readonly RunEvent[];
  /** The model as `provider/model`; undefined if the run failed before its model was known. */
  readonly modelName?: string;
}

/**
 * The journal of a run that this process owns. Each entry is first committed to the database and
 * then published to subscribers in this process. Each claim changes the run's `fence`, so the
 * database rejects an entry if another process has claimed the run since.
 *
 * This is a class, not an object of closures, because one is created for each run and a class uses
 * less memory: see docs/decisions/0012-what-is-brief-dies-young.md.
 */
export class RunJournal implements Journal {
  readonly events: readonly RunEvent[];
  readonly #ports: JournalPorts;
  readonly #live: LiveRun;
  readonly #claim: Claim;
  readonly #modelName: string | undefined;
  readonly #startedAt: number;
  #lastSeq: number;
  #steps: number;
  #reportsCalls: boolean;

  constructor(
    ports: JournalPorts,
    live: LiveRun,
    claim: Claim,
    { events = [], modelName }: JournalOptions = {},
  ) {
    this.events = events;
    this.#modelName = modelName;
    this.#startedAt = live.createdAt - claim.elapsedMs;
    this.#steps = countSteps(events);
    this.#reportsCalls = events.some(isOfCall);
    this.#ports = ports;
    this.#live = live;
    this.#claim = claim;
    this.#lastSeq = claim.lastSeq;
  }

  /** Whether the journal has an entry about a call of a model or a tool. */
  get reportsCalls(): boolean {
    return this.#reportsCalls;
  }

  append(
    added: readonly NewEvent[],
    options: { unlessCancelled?: boolean; calls?: readonly ReportedCall[] } = {},
  ): Promise<void> {
    return this.#write(added, options);
  }

  end(outcome: Outcome, added: readonly NewEvent[], calls: readonly ReportedCall[]): Promise<void> {
    const entries = [...added, finalEvent(outcome)];
    return this.#write(entries, { calls, transition: toEnd(outcome) }, outcome);
  }

  /**
   * Releases the run: queues it again, so that any process can claim it. Being released does not
   * count as an attempt. Call this only after the engine has stopped, since no entry can be written
   * afterwards.
   *
   * @param unwritten events to write together with the release: the results of tool calls
   *   that must not be repeated, and the report of a lost model call. The release aborted this
   *   call, or it was in progress when an earlier process was lost. The next owner cannot be relied
   *   on to write these events, because the run can be cancelled or expire in the queue. The tool
   *   calls would then have no result, and the model call would never be charged.
   * @param isReported whether the journal and `unwritten` report all model calls that this process
   *   sent. If not, the next owner assumes that a call was sent, and estimates its usage.
   * @throws {RunStopped} nothing was written.
   */
  release(unwritten: readonly ReportingEvent[], isReported: boolean): Promise<void> {
    const queued: NewEvent = {
      type: "run.queued",
      data: isReported ? { calls_reported: true } : {},
    };
    return this.#write([...unwritten.map(({ event }) => event), queued], {
      // A run whose cancellation was requested ends instead of being queued: the caller of the
      // cancellation relies on this process.
      unlessCancelled: true,
      calls: unwritten.flatMap(({ calls }, entry) => calls.map((call) => ({ entry, call }))),
      transition: "queued",
    });
  }

  /**
   * Holds the run until no limit is a reason to hold it. Afterwards this process does not own the
   * run any more. Call this only if `reportsCalls` is false and no call is in progress.
   * @throws {RunStopped} nothing was written.
   */
  hold(): Promise<void> {
    const held: NewEvent = { type: "run.waiting", data: {} };
    // A run whose cancellation was requested ends instead of being held.
    return this.#write([held], { unlessCancelled: true, transition: "waiting" });
  }

  async #write(
    added: readonly NewEvent[],
    options: Pick<AppendRow, "unlessCancelled" | "calls" | "transition">,
    outcome?: Outcome,
  ): Promise<void> {
    const { runId, workspaceId, agentId, owner, fence } = this.#claim;
    const lastSeq = this.#lastSeq;
    const written = added.map((event) => ({ event, entry: toEntry(event) }));
    const entries = written.map(({ entry }) => entry);
    const row = { runId, workspaceId, owner, fence, ...options, lastSeq, entries };
    const result = await this.#ports.appends.submit(row);
    if (result.kind !== "written") throw new RunStopped(result.kind);
    const { time } = result;
    const stored = written.map(({ event, entry }, index) =>
      toStored(event, entry, runId, lastSeq + 1 + index, time),
    );
    this.#lastSeq = lastSeq + entries.length;
    this.#steps += countSteps(added);
    this.#reportsCalls ||= added.some(isOfCall);
    this.#ports.reports.written({
      runId,
      workspaceId,
      agentId,
      modelName: this.#modelName,
      events: added,
      calls: options.calls ?? [],
      outcome,
      steps: this.#steps,
      elapsedMs: elapsed() - this.#startedAt,
    });
    this.#live.publish(stored, outcome);
    if (this.#live.hasRemoteSubscribers)
      this.#ports.processMessages.send({ kind: "journal", runId });
  }
}

function countSteps(events: readonly NewEvent[]): number {
  let steps = 0;
  for (const { type } of events) if (type === "run.step") steps++;
  return steps;
}

/** Returns whether an event is about a call: `run.step`, `run.step_lost`, `run.tool_…`. */
function isOfCall({ type }: NewEvent): boolean {
  return type.startsWith("run.step") || type.startsWith("run.tool");
}
