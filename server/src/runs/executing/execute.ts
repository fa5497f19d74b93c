import type { RunErrorCode, RunEvent, TokenUsage } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed, sleep } from "../../base/clock.ts";
import { type Database, failureKind } from "../../base/database/index.ts";
import { messageOf, Refusal } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { defaultTimeouts, heldBytesOf, type Journal, RunStopped, executeRun as runEngine, type StopReason } from "../../engine/index.ts";
import { readInput, readJournal, readJournalBytes, readUsage } from "../journal/index.ts";
import type { Hearer, LastAttempt, LiveRuns, Subscribers } from "../subscribing/index.ts";
import { LiveRun, tellOutput } from "../subscribing/index.ts";
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
  readonly subscribers: Pick<Subscribers, "followers" | "hearers">;
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
  readonly hearer?: Hearer | undefined;
}

/**
 * Executes the run and gives its room back. It is live, for watchers and for a cancellation, before this returns; the promise
 * resolves when this process is done with it, however that went, and never rejects.
 */
export async function executeOwned(ports: ExecutePorts, run: OwnedRun): Promise<void> {
  const { fromQueue = false, lastAttempt, cancelRequested = false } = run;
  const live = new LiveRun(run, run.lastSeq, { watchedElsewhere: fromQueue, lastAttempt });
  ports.live.set(run.runId, live);
  if (run.hearer !== undefined) ports.subscribers.hearers.add(run, run.hearer);
  ports.subscribers.followers.wake(run.runId);
  if (cancelRequested) live.stop("cancelled");
  const startedAt = elapsed() - run.elapsedMs;
  let limited = false;
  let journal: OwnedJournal | undefined;
  const hold = ports.memory.runs.hold(run.workspaceId);
  try {
    const prepared = ports.agents.find(run) ?? (await prepare(ports, live, run));
    if (prepared !== undefined) {
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
    }
  } catch (thrown) {
    report(ports, run, thrown);
    const spent = journal === undefined && run.resumed ? await readUsage(ports.database, run).catch(() => undefined) : undefined;
    journal ??= openJournal(ports, live, run, []);
    await endUnexecuted(thrown, live, journal, spent).catch((again) => report(ports, run, again));
  }
  if (stopReason(live) === "drain" && live.outcome === undefined) {
    await (journal ?? openJournal(ports, live, run, [])).handBack().catch((thrown) => report(ports, run, thrown));
  }
  live.close();
  hold.release();
  if (ports.live.get(run.runId) === live) ports.live.delete(run.runId);
  ports.capacity.release(1);
  if (limited || !ports.capacity.queueEmpty) ports.worker.claim();
  // A process that stops gives what it frees to the others.
  if (!ports.capacity.isOpen) ports.wakeUps.tell({ kind: "queued" });
}

function report(ports: ExecutePorts, run: OwnedRun, thrown: unknown): void {
  if (thrown instanceof RunStopped || thrown instanceof Refusal) return;
  ports.log.error({ run_id: run.runId, reason: messageOf(thrown) }, "executing a run failed in a way it should not");
}

/**
 * The engine ends every run it is given; this is for what never came to it, or failed by a fault of ours: a run that is ours and of which
 * nobody thinks any more would stay `running` for as long as this process lives.
 */
async function endUnexecuted(thrown: unknown, live: LiveRun, journal: Journal, spent: TokenUsage | undefined): Promise<void> {
  if (live.outcome !== undefined) return;
  const usage = spent ?? spentBy([...journal.events, ...live.events]);
  const failed = (code: RunErrorCode, message: string) =>
    journal.end({ status: "failed", error: { code, message }, usage, cost_micros: null }, []);
  if (thrown instanceof Refusal) {
    await failed("model_error", thrown.message);
  } else if (!(thrown instanceof RunStopped)) {
    await failed("interrupted", "Beckon failed at this run by a fault of its own. It is in the log.");
  } else if (thrown.reason === "deadline") {
    await failed("deadline_exceeded", "The run's time was over before it could begin.");
  } else if (thrown.reason === "cancelled") {
    const error = { code: "cancelled" as const, message: "The run was cancelled before it could begin." };
    await journal.end({ status: "cancelled", error, usage, cost_micros: null }, []);
  }
}

function spentBy(events: readonly { readonly type: string; readonly data: unknown }[]): TokenUsage {
  const steps = events
    .filter(({ type }) => type === "run.step" || type === "run.step_lost")
    .map(({ data }) => (data as { usage?: TokenUsage }).usage);
  const sum = (member: "input_tokens" | "output_tokens" | "cached_input_tokens") =>
    steps.reduce((total, usage) => total + (usage?.[member] ?? 0), 0);
  return {
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    cached_input_tokens: sum("cached_input_tokens"),
    ...(steps.some((usage) => usage === undefined || usage.estimated) ? { estimated: true } : {}),
  };
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

function execute(ports: ExecutePorts, live: LiveRun, { run, input, prepared, journal, hold, deadlineAt }: Executing): Promise<void> {
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
    watched: () => ports.subscribers.hearers.has(run.runId),
    onDelta: tellOutput(ports.subscribers.hearers, live),
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
function load(ports: ExecutePorts, live: LiveRun, run: OwnedRun, hold: ByteHold): Loaded | Promise<Loaded> {
  if (run.resumed) return loadResumed(ports, live, run, hold);
  const waiting = enter(live, run, hold, 0);
  if (waiting === undefined && run.input !== undefined) return { input: run.input, events: [] };
  return loadEntered(ports, live, run, waiting);
}

async function loadResumed(ports: ExecutePorts, live: LiveRun, run: OwnedRun, hold: ByteHold): Promise<Loaded> {
  const journalBytes = await persist(live, () => readJournalBytes(ports.database, run));
  const loaded = await loadEntered(ports, live, run, enter(live, run, hold, heldPerJournalByte * journalBytes));
  const events = await persist(live, () => readJournal(ports.database, run));
  if (!hold.grow(heldBytesOf(events, 1))) throw tooLarge(hold);
  return { ...loaded, events };
}

/** @throws Refusal: it takes more than a workspace may have. */
function enter(live: LiveRun, run: OwnedRun, hold: ByteHold, journalBytes: number): Promise<void> | undefined {
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

async function loadEntered(ports: ExecutePorts, live: LiveRun, run: OwnedRun, waiting: Promise<void> | undefined): Promise<Loaded> {
  await waiting;
  return { input: run.input ?? (await persist(live, () => readInput(ports.database, run))), events: [] };
}

function tooLarge({ maxBytes }: ByteHold): Refusal {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return new Refusal(
    "too_large",
    `The run's input and journal take more memory than the runs of one workspace may use in one server process (${mib} MiB). Start it anew with less input, or have the operator raise BECKON_MEMORY_BUDGET_MIB.`,
  );
}

/** The agent as pinned, or undefined when the run had to end because it cannot be had. */
async function prepare(ports: ExecutePorts, live: LiveRun, run: OwnedRun): Promise<PreparedAgent | undefined> {
  try {
    return await persist(live, () => ports.agents.prepare(run));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const usage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
    const journal = openJournal(ports, live, run, []);
    await journal.end({ status: "failed", error: { code: "model_error", message: thrown.message }, usage, cost_micros: 0 }, []);
    return undefined;
  }
}

/** Reads until it succeeds: a run that is ours does not fail because the database is away for a while. */
async function persist<T>(live: LiveRun, read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (thrown) {
      if (thrown instanceof Refusal || failureKind(thrown) !== "lost") throw thrown;
      await sleep(250, live.signal);
    }
  }
}
