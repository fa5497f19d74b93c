import type { RunErrorCode, RunEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { type Database, retryWhileLost } from "../../base/database/index.ts";
import { ApiError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import {
  defaultTimeouts,
  endByDigest,
  heldBytesOf,
  type Journal,
  RunStopped,
  executeRun as runEngine,
  type Stopped,
  type StopReason,
} from "../../engine/index.ts";
import {
  nothingUsed,
  readDigest,
  readInput,
  readJournal,
  readJournalBytes,
} from "../journal/index.ts";
import type { LastAttempt, LiveRuns, OutputBuffer, Subscribers } from "../subscribing/index.ts";
import { LiveRun, publishOutput } from "../subscribing/index.ts";
import type { AgentCache } from "./agent-cache.ts";
import type { Capacity } from "./capacity.ts";
import type { Memory } from "./memory.ts";
import { type Claim, type JournalPorts, type OwnedJournal, openJournal } from "./open-journal.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import type { WorkerCalls } from "./worker-calls.ts";

/** What executing runs needs of this process. */
export interface ExecutePorts extends JournalPorts {
  readonly database: Database;
  readonly log: Log;
  readonly agents: AgentCache;
  readonly live: LiveRuns;
  readonly subscribers: Pick<Subscribers, "pollers" | "outputBuffers">;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "claim">;
}

/** A run that this process owns, and has reserved room for. */
export interface OwnedRun extends Claim {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
  /** undefined: it is to be read. Forgotten while the run waits for memory. */
  input: string | undefined;
  /** Of the whole input, in UTF-8. */
  readonly inputBytes: number;
  /** Another process may have executed some of it: go on from its journal. */
  readonly resumed: boolean;
  /** Milliseconds since its first start, without those spent waiting for a failover. */
  readonly elapsedMs: number;
  /** To be ended before anything else is done for it. */
  readonly cancelRequested?: boolean;
  /** Claimed, not born here: whoever started it may wait for it in another process. */
  readonly fromQueue?: boolean;
  /** Set if it may be given to no other process after this one. */
  readonly lastAttempt?: LastAttempt | undefined;
  /** Of the caller who started it here, and reads its stream: it hears the run from the first word on. */
  readonly output?: OutputBuffer | undefined;
}

/**
 * Executes the run and gives its room back. It is live, for watchers and for a cancellation, before this returns; the promise
 * resolves when this process is done with it, however that went, and never rejects.
 */
export async function executeOwned(ports: ExecutePorts, run: OwnedRun): Promise<void> {
  const { fromQueue = false, lastAttempt, cancelRequested = false } = run;
  const live = new LiveRun(run, run.lastSeq, { watchedElsewhere: fromQueue, lastAttempt });
  ports.live.set(run.runId, live);
  if (run.output !== undefined) ports.subscribers.outputBuffers.add(run, run.output);
  ports.subscribers.pollers.wake(run.runId);
  if (cancelRequested) live.stop("cancelled");
  const startedAt = elapsed() - run.elapsedMs;
  let limited = false;
  let journal: OwnedJournal | undefined;
  const hold = ports.memory.runs.hold(run.workspaceId);
  try {
    const prepared =
      ports.agents.find(run) ??
      (await retryWhileLost(() => ports.agents.prepare(run), live.signal));
    const { limits } = prepared.config;
    limited = limits.max_concurrent_runs !== null;
    const deadlineAt = startedAt + limits.timeout_seconds * 1_000;
    const timer = setTimeout(() => live.stop("deadline"), Math.max(0, deadlineAt - elapsed()));
    try {
      const loading = load(ports, live, run, hold);
      const { input, events } = loading instanceof Promise ? await loading : loading;
      journal = openJournal(ports, live, run, events);
      await execute(ports, live, { run, input, prepared, journal, hold, deadlineAt });
    } finally {
      clearTimeout(timer);
    }
  } catch (thrown) {
    report(ports, run, thrown);
    await endUnexecuted(ports, live, run, { thrown, journal }).catch((again) =>
      report(ports, run, again),
    );
  }
  if (stopReason(live) === "drain" && live.outcome === undefined) {
    await (journal ?? openJournal(ports, live, run, []))
      .release()
      .catch((thrown) => report(ports, run, thrown));
  }
  live.close();
  hold.release();
  if (ports.live.get(run.runId) === live) ports.live.delete(run.runId);
  ports.capacity.release(1);
  if (limited || !ports.capacity.queueEmpty) ports.worker.claim();
  // A process that stops gives what it frees to the others.
  if (!ports.capacity.isOpen) ports.processMessages.send({ kind: "queued" });
}

function report(ports: ExecutePorts, run: OwnedRun, thrown: unknown): void {
  if (thrown instanceof RunStopped || thrown instanceof ApiError) return;
  ports.log.error(
    { run_id: run.runId, reason: messageOf(thrown) },
    "executing a run failed in a way it should not",
  );
}

/**
 * The engine ends every run it is given; this is for what never came to it, or failed by a fault of ours: a run that is ours and of which
 * nobody thinks any more would stay `running` for as long as this process lives.
 */
async function endUnexecuted(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  { thrown, journal }: { readonly thrown: unknown; readonly journal: Journal | undefined },
): Promise<void> {
  const ending = endingOf(thrown);
  if (live.outcome !== undefined || ending === undefined) return;
  const { end } = journal ?? openJournal(ports, live, run, []);
  if (journal === undefined && !run.resumed) return end({ ...ending, ...nothingUsed }, []);
  const read = await retryWhileLost(() => readDigest(ports.database, run.runId)).catch((again) =>
    report(ports, run, again),
  );
  if (read === undefined)
    return end(
      { ...ending, usage: { ...nothingUsed.usage, estimated: true }, cost_micros: null },
      [],
    );
  // An engine that had the journal has added the call that was lost with an earlier process.
  const { added, outcome } = endByDigest(
    read.digest,
    ending,
    journal === undefined ? read.prompt : undefined,
  );
  await end(outcome, added);
}

/** How a run ends that the engine does not end; undefined: not by this process. */
function endingOf(thrown: unknown): Stopped | undefined {
  const failed = (code: RunErrorCode, message: string): Stopped => ({
    status: "failed",
    error: { code, message },
  });
  if (thrown instanceof ApiError) return failed("model_error", thrown.message);
  if (!(thrown instanceof RunStopped)) {
    return failed(
      "interrupted",
      "Beckon failed at this run by a fault of its own. It is in the log.",
    );
  }
  switch (thrown.reason) {
    case "deadline":
      return failed("deadline_exceeded", "The run's time was over before it could begin.");
    case "cancelled":
      return {
        status: "cancelled",
        error: { code: "cancelled", message: "The run was cancelled before it could begin." },
      };
    case "fenced":
    case "drain":
      return undefined;
  }
}

function stopReason(live: LiveRun): StopReason | undefined {
  const { reason } = live.signal;
  return reason instanceof RunStopped ? reason.reason : undefined;
}

interface Executing {
  readonly run: OwnedRun;
  readonly input: string;
  readonly prepared: PreparedAgent;
  readonly journal: Journal;
  readonly hold: ByteHold;
  readonly deadlineAt: number;
}

function execute(
  ports: ExecutePorts,
  live: LiveRun,
  { run, input, prepared, journal, hold, deadlineAt }: Executing,
): Promise<void> {
  const { config, model, circuit, tools } = prepared;
  return runEngine({
    runId: run.runId,
    input,
    instructions: config.instructions,
    modelName: config.model,
    model,
    circuit,
    settings: config.model_settings,
    maxSteps: config.limits.max_steps,
    tools,
    journal,
    resumed: run.resumed,
    signal: live.signal,
    deadlineAt,
    hasSubscriber: () => ports.subscribers.outputBuffers.has(run.runId),
    onDelta: publishOutput(ports.subscribers.outputBuffers, live),
    timeouts: defaultTimeouts,
    maxAnswerBytes: config.limits.max_answer_bytes,
    hold,
  });
}

/** Bytes of memory that a run takes by itself, with its model call and a short answer. */
const runBytes = 64 * 1024;
/**
 * Bytes of memory for each byte of an input, and for each byte of a journal while it is read:
 * docs/decisions/0014-a-budget-of-bytes.md.
 */
const heldPerInputByte = 2;
const heldPerJournalByte = 8;

interface Loaded {
  readonly input: string;
  readonly events: readonly RunEvent[];
}

/**
 * Takes memory for the run, waiting for it if there is none, and then reads what it needs. Not a
 * promise when all is there.
 */
function load(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
): Loaded | Promise<Loaded> {
  if (run.resumed) return loadResumed(ports, live, run, hold);
  const waiting = enter(live, run, hold, 0);
  if (waiting === undefined && run.input !== undefined) return { input: run.input, events: [] };
  return loadEntered(ports, live, run, waiting);
}

async function loadResumed(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
): Promise<Loaded> {
  const journalBytes = await retryWhileLost(
    () => readJournalBytes(ports.database, run),
    live.signal,
  );
  const loaded = await loadEntered(
    ports,
    live,
    run,
    enter(live, run, hold, heldPerJournalByte * journalBytes),
  );
  const events = await retryWhileLost(() => readJournal(ports.database, run), live.signal);
  if (!hold.grow(heldBytesOf(events, 1))) throw tooLarge(hold);
  return { ...loaded, events };
}

/** @throws ApiError: it takes more than a workspace may have. */
function enter(
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
  journalBytes: number,
): Promise<void> | undefined {
  const inputBytes = heldPerInputByte * run.inputBytes;
  const bytes = runBytes + inputBytes + journalBytes;
  if (bytes > hold.maxBytes) throw tooLarge(hold);
  const waiting = hold.enter(bytes, live.signal);
  // Whoever waits holds nothing: the input is read again.
  if (waiting !== undefined) run.input = undefined;
  const count = () => void hold.grow(inputBytes);
  if (waiting === undefined) count();
  return waiting?.then(count);
}

async function loadEntered(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  waiting: Promise<void> | undefined,
): Promise<Loaded> {
  await waiting;
  return {
    input: run.input ?? (await retryWhileLost(() => readInput(ports.database, run), live.signal)),
    events: [],
  };
}

function tooLarge({ maxBytes }: ByteHold): ApiError {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return new ApiError(
    "too_large",
    `The run's input and journal take more memory than the runs of one workspace may use in one server process (${mib} MiB). Start it anew with less input, or have the operator raise BECKON_MEMORY_BUDGET_MIB.`,
  );
}
