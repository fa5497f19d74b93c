import type { RunEvent } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { retryWhileLost } from "../../base/database/index.ts";
import { ApiError, messageOf, stackOf } from "../../base/errors.ts";
import type { RequestTrace, TraceSpan, Tracing } from "../../base/tracing/index.ts";
import {
  defaultTimeouts,
  heldBytesOf,
  type Journal,
  lostStep,
  type ReportingEvent,
  executeRun as runEngine,
  UnwrittenEnd,
} from "../../engine/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import { readInput, readJournal, readJournalBytes, readWasWaiting } from "../journal/index.ts";
import type { LastAttempt, LiveRuns, OutputBuffer, Subscribers } from "../subscribing/index.ts";
import { LiveRun, publishOutput } from "../subscribing/index.ts";
import type { AgentCache } from "./agent-cache.ts";
import type { Capacity } from "./capacity.ts";
import {
  type EndPorts,
  endAfterError,
  logUnexpected,
  readLostCall,
  stopReason,
} from "./end-after-error.ts";
import type { FirstCall, FirstCalls } from "./first-calls.ts";
import { giveBack } from "./give-back.ts";
import { limitAttempts } from "./limit-attempts.ts";
import type { Memory } from "./memory.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { type Claim, RunJournal } from "./run-journal.ts";
import type { WorkerCalls } from "./worker-calls.ts";

/** The services that executing runs needs. */
export interface ExecutePorts extends EndPorts {
  readonly agents: AgentCache;
  readonly live: LiveRuns;
  readonly subscribers: Pick<Subscribers, "pollers" | "outputBuffers">;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "claim">;
  readonly reservations: Pick<Reservations, "revision" | "reserve" | "giveBack" | "forget">;
  readonly firstCalls: Pick<FirstCalls, "note">;
  /** Wakes runs that wait for a reservation in these workspaces, in all processes. */
  readonly onReturned: (workspaceIds: readonly string[]) => void;
  /** Undefined if traces are off. */
  readonly tracing: Pick<Tracing, "run"> | undefined;
}

/** A run that this process owns, and for which it has reserved capacity. */
export interface OwnedRun extends Claim {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
  /**
   * Whether the run is a draft run: one that has its own configuration instead of that of an
   * agent's version. Default false.
   */
  readonly isDraft?: boolean;
  /**
   * Whether the agent had a concurrency limit when the run was claimed. The run's version can be
   * older than the limit. Default false.
   */
  readonly hasConcurrencyLimit?: boolean;
  /**
   * The input; undefined if it must be read from the database. Set to undefined when the run begins
   * to wait for memory.
   */
  input: string | undefined;
  /** Size of the whole input in UTF-8, in bytes. */
  readonly inputBytes: number;
  /**
   * Whether another process may have executed a part of the run. If so, the run resumes from its
   * journal.
   */
  readonly resumed: boolean;
  /**
   * Time since the run was first started, in milliseconds. It does not include the time in which
   * the run waited to be taken over from a dead process, or was queued again after a stopping
   * process had released it.
   */
  readonly elapsedMs: number;
  /**
   * Whether the run's cancellation was requested, so that this process only ends it. Default false.
   */
  readonly cancelRequested?: boolean;
  /**
   * Whether this process claimed the run, instead of creating it with status running. The caller of
   * a claimed run may wait for it at another process. Default false.
   */
  readonly fromQueue?: boolean;
  /** Set if this is the run's last attempt. */
  readonly lastAttempt?: LastAttempt | undefined;
  /**
   * Output buffer of the caller, if the caller started the run in this process and streams it. It
   * is registered before the run executes, so that the caller gets all output.
   */
  readonly output?: OutputBuffer | undefined;
  /**
   * Set if this process has started the run and its workspace has limits. Set to undefined when the
   * run begins to wait for memory, because it then returns what was reserved with its start.
   */
  firstCall?: FirstCall | undefined;
  /**
   * Trace of the request that started the run. Undefined if traces are off, if another process
   * received the request, and for runs that were queued and then claimed.
   */
  readonly trace?: RequestTrace | undefined;
}

/**
 * Executes the run, then releases the capacity that was reserved for it. The run is added to
 * `ports.live` synchronously, so that callers can subscribe to it and cancel it as soon as this
 * function has returned. The promise resolves when this process no longer works on the run,
 * regardless of the outcome. It never rejects.
 */
export async function executeOwned(ports: ExecutePorts, run: OwnedRun): Promise<void> {
  const { fromQueue = false, lastAttempt, cancelRequested = false } = run;
  const live = new LiveRun(run, run.lastSeq, { hasRemoteSubscribers: fromQueue, lastAttempt });
  ports.live.set(run.runId, live);
  if (run.output !== undefined) ports.subscribers.outputBuffers.add(run, run.output);
  ports.subscribers.pollers.wake(run.runId);
  if (cancelRequested) live.stop("cancelled");
  const span = ports.tracing?.run(run);
  const startedAt = elapsed() - run.elapsedMs;
  let limited = run.hasConcurrencyLimit === true;
  let journal: RunJournal | undefined;
  let unwritten: readonly ReportingEvent[] = [];
  let isReported = true;
  const hold = ports.memory.runs.hold(run.workspaceId);
  try {
    const prepared =
      ports.agents.find(run) ??
      (await retryWhileLost(() => ports.agents.prepare(run), live.signal));
    const { limits } = prepared.config;
    describeAgent(span, run, prepared);
    limited ||= limits.max_concurrent_runs !== null;
    const deadlineAt = startedAt + limits.timeout_seconds * 1_000;
    const timer = setTimeout(() => live.stop("deadline"), Math.max(0, deadlineAt - elapsed()));
    try {
      const loading = load(ports, live, run, hold, prepared.configBytes);
      const { events, ...loaded } = loading instanceof Promise ? await loading : loading;
      journal = new RunJournal(ports, live, run, { events, modelName: prepared.config.model });
      const executing = { run, ...loaded, prepared, journal, hold, deadlineAt, span };
      unwritten = await execute(ports, live, executing);
    } finally {
      clearTimeout(timer);
    }
  } catch (thrown) {
    // If `journal` is set, the engine may have been called. An engine that throws may have sent
    // model calls that it did not report.
    isReported = journal === undefined || thrown instanceof UnwrittenEnd;
    const calls = thrown instanceof UnwrittenEnd ? thrown.calls : [];
    await endAfterError(ports, live, run, { thrown, journal, calls });
    const [first, ...others] = calls;
    if (first !== undefined) unwritten = [lostStep("process_lost", [first, ...others])];
  }
  if (stopReason(live) === "drain" && live.outcome === undefined) {
    if (journal === undefined && run.resumed) unwritten = await readLostCall(ports, run);
    await (journal ?? new RunJournal(ports, live, run))
      .release(unwritten, isReported)
      .catch((thrown) => logUnexpected(ports, run, thrown));
  }
  if (span !== undefined) endSpan(span, live);
  live.close();
  hold.release();
  if (ports.live.get(run.runId) === live) ports.live.delete(run.runId);
  ports.reservations.forget(run.runId);
  ports.capacity.release(1);
  if (limited || !ports.capacity.queueEmpty) ports.worker.claim();
  // A stopping process claims nothing more. It notifies the other processes: if the agent's
  // concurrency limit was reached, they can now claim another queued run of the agent.
  if (!ports.capacity.isOpen) ports.processMessages.send({ kind: "queued" });
}

function describeAgent(
  span: TraceSpan | undefined,
  { agentVersion, isDraft = false }: OwnedRun,
  { config }: PreparedAgent,
): void {
  span?.rename(`invoke_agent ${config.name}`);
  span?.set({
    "gen_ai.agent.name": config.name,
    "gen_ai.agent.version": isDraft ? undefined : String(agentVersion),
    "gen_ai.request.model": config.model,
  });
}

/** Ends the span of this execution. A cancelled run is no error: somebody wanted it to end. */
function endSpan(span: TraceSpan, live: LiveRun): void {
  const { outcome } = live;
  span.set({
    "beckon.run.status": outcome?.status ?? "interrupted",
    "gen_ai.usage.input_tokens": outcome?.usage.input_tokens,
    "gen_ai.usage.output_tokens": outcome?.usage.output_tokens,
  });
  span.end(outcome?.status === "failed" ? outcome.error.code : undefined);
}

interface Executing {
  readonly run: OwnedRun;
  readonly input: string;
  readonly prepared: PreparedAgent;
  readonly journal: Journal;
  readonly hold: ByteHold;
  readonly deadlineAt: number;
  readonly wasWaiting: boolean;
  readonly span: TraceSpan | undefined;
}

function execute(
  ports: ExecutePorts,
  live: LiveRun,
  { run, input, prepared, journal, hold, deadlineAt, wasWaiting, span }: Executing,
): Promise<readonly ReportingEvent[]> {
  const { config, model, priceOf, circuit, tools } = prepared;
  return runEngine({
    runId: run.runId,
    input,
    instructions: config.instructions,
    modelName: config.model,
    model,
    priceOf,
    limitAttempt: limitAttempts(ports, { run, config, priceOf }),
    reserveOutputTokens: config.limits.reserve_output_tokens,
    limitRevision: () => ports.reservations.revision(run.workspaceId),
    wasWaiting,
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
    onToolError: (thrown) =>
      ports.log.write("a tool failed because of an internal error", {
        run_id: run.runId,
        reason: messageOf(thrown),
        stack: stackOf(thrown),
      }),
    timeouts: defaultTimeouts,
    maxAnswerBytes: config.limits.max_answer_bytes,
    hold,
    span,
  });
}

/**
 * Estimated memory of a run with a model call and a short response, not counting its input, in
 * bytes.
 */
const runBytes = 64 * 1024;
/**
 * Bytes of memory for each byte of an input, and for each byte of a journal while it is read. Both
 * were measured: see docs/decisions/0014-a-budget-of-bytes.md.
 */
const heldPerInputByte = 2;
const heldPerJournalByte = 8;

interface Loaded {
  readonly input: string;
  readonly events: readonly RunEvent[];
  /** Whether the run waited for a limit when its earlier process was lost. */
  readonly wasWaiting: boolean;
}

/**
 * Reserves memory for the run, then reads its input and its journal. Waits while the memory budget
 * is used up. Returns without a promise if there is nothing to wait for or to read.
 * @param configBytes memory that the run uses for its configuration, in bytes.
 */
function load(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
  configBytes: number,
): Loaded | Promise<Loaded> {
  if (run.resumed) return loadResumed(ports, live, run, hold, configBytes);
  const waiting = reserveMemory(live, run, hold, configBytes, 0);
  if (waiting === undefined && run.input !== undefined)
    return { input: run.input, events: [], wasWaiting: false };
  return loadEntered(ports, live, run, waiting);
}

async function loadResumed(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
  configBytes: number,
): Promise<Loaded> {
  const journalBytes = await retryWhileLost(
    () => readJournalBytes(ports.database, run),
    live.signal,
  );
  const loaded = await loadEntered(
    ports,
    live,
    run,
    reserveMemory(live, run, hold, configBytes, heldPerJournalByte * journalBytes),
  );
  const events = await retryWhileLost(() => readJournal(ports.database, run), live.signal);
  if (!hold.grow(heldBytesOf(events, 1))) throw tooLarge(hold);
  const wasWaiting = await retryWhileLost(() => readWasWaiting(ports.database, run), live.signal);
  return { ...loaded, events, wasWaiting };
}

/**
 * Reserves memory for the run.
 * @param configBytes memory that the run uses for its configuration, in bytes.
 * @param journalBytes memory that reading the journal takes, in bytes; 0 if it is not read.
 * @returns a promise that resolves when the memory is reserved, if the run must wait for it;
 *   undefined if the memory is reserved already.
 * @throws ApiError `too_large` if the run needs more memory than the runs of one workspace can use.
 */
function reserveMemory(
  live: LiveRun,
  run: OwnedRun,
  hold: ByteHold,
  configBytes: number,
  journalBytes: number,
): Promise<void> | undefined {
  const countedBytes = heldPerInputByte * run.inputBytes + configBytes;
  const bytes = runBytes + countedBytes + journalBytes;
  if (bytes > hold.maxBytes) throw tooLarge(hold);
  const waiting = hold.enter(bytes, live.signal);
  // A run that waits for memory must not occupy any, so its input is dropped here and read again
  // later.
  if (waiting !== undefined) run.input = undefined;
  // The input and the configuration stay in memory until the run ends. The other reserved bytes are
  // for the journal and the model calls: later calls of `grow` use them.
  if (waiting !== undefined) return waiting.then(() => void hold.grow(countedBytes));
  hold.grow(countedBytes);
  return undefined;
}

async function loadEntered(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  waiting: Promise<void> | undefined,
): Promise<Loaded> {
  if (waiting !== undefined) {
    const returned = giveBack(ports, run, live.signal);
    try {
      await waiting;
    } finally {
      // Waits until the reservation is returned, even if the run is stopped. If the return were
      // written after the run's release, it would replace what the run's next owner has reserved.
      await returned;
    }
  }
  return {
    input: run.input ?? (await retryWhileLost(() => readInput(ports.database, run), live.signal)),
    events: [],
    wasWaiting: false,
  };
}

function tooLarge({ maxBytes }: ByteHold): ApiError {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return new ApiError(
    "too_large",
    `The run's input and journal need more memory than the runs of one workspace can use in one server process (${mib} MiB). Start a run with less input, or ask the operator to raise BECKON_MEMORY_BUDGET_MIB.`,
  );
}
