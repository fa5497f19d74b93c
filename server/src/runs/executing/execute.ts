import { raceSignal } from "../../base/abort.ts";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { retryWhileLost } from "../../base/database/index.ts";
import { onBehalfOf } from "../../base/egress/index.ts";
import { messageOf, stackOf } from "../../base/errors.ts";
import type { RequestTrace, TraceSpan, Tracing } from "../../base/tracing/index.ts";
import {
  defaultTimeouts,
  executeRun,
  lostStep,
  type ReportingEvent,
  RunStopped,
  UnwrittenEnd,
} from "../../engine/index.ts";
import type { OwnProcess } from "../../processes/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import type { LastAttempt } from "../run.ts";
import {
  LiveRun,
  type LiveRuns,
  type OutputBuffer,
  publishOutput,
  type Subscribers,
} from "../subscribing/index.ts";
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
import { holdRun } from "./hold-run.ts";
import { limitAttempts } from "./limit-attempts.ts";
import { type Loaded, loadRun } from "./load-run.ts";
import type { Memory } from "./memory.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { type Claim, RunJournal } from "./run-journal.ts";
import type { WorkerCalls } from "./worker-calls.ts";

/** The services that executing runs needs. */
export interface ExecutePorts extends EndPorts {
  readonly process: Pick<OwnProcess, "holdsLease" | "keepsLease">;
  readonly agents: AgentCache;
  readonly live: LiveRuns;
  readonly subscribers: Pick<Subscribers, "poller" | "outputBuffers">;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "claim" | "noteHeld">;
  readonly reservations: Pick<
    Reservations,
    "revision" | "reserve" | "returnFirstCall" | "recordWait" | "forget"
  >;
  readonly firstCalls: Pick<FirstCalls, "note">;
  /** Wakes runs that wait for a reservation in these workspaces, in all processes. */
  readonly onReturned: (workspaceIds: readonly string[]) => void;
  /** Undefined if traces are off. */
  readonly tracing: Pick<Tracing, "run"> | undefined;
}

/** A run that this process owns, and for which it has reserved capacity. */
export interface OwnedRun extends Claim {
  readonly agentVersion: number;
  /**
   * Text that changes whenever the agent's provider is changed; null if the agent uses no provider
   * that the workspace configured.
   */
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
   * The input; undefined if it must be read from the database. A claim returns no large input,
   * which is read once memory is reserved for it. Set to undefined when the run begins to wait for
   * memory.
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
   * Whether the run's cancellation was requested, so that this process only ends it. Default false.
   */
  readonly cancelRequested?: boolean;
  /**
   * Whether this process claimed the run, from the queue or a dead process, instead of creating it
   * with status running. The caller of a claimed run may wait for it at another process. Default
   * false.
   */
  readonly isClaimed?: boolean;
  /** Set if this is the run's last attempt. */
  readonly lastAttempt?: LastAttempt | undefined;
  /**
   * Output buffer of the caller, if the caller started the run in this process and streams it. It
   * is registered before the run executes, so that the caller gets all output.
   */
  readonly output?: OutputBuffer | undefined;
  /**
   * Set if this process created the run with status running, already knew that the caller's
   * workspace has limits, and the request had at most `maxReservingBytes` (see `submit-start.ts`).
   * Set to undefined when the run begins to wait for memory, because it then returns what was
   * reserved with its start.
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
  const { isClaimed = false, lastAttempt, cancelRequested = false } = run;
  const live = new LiveRun(run, run.lastSeq, { hasRemoteSubscribers: isClaimed, lastAttempt });
  const memory = ports.memory.runs.hold(run.workspaceId);
  let result: ExecutionResult | undefined;
  try {
    ports.live.set(run.runId, live);
    if (run.output !== undefined) ports.subscribers.outputBuffers.add(run, run.output);
    ports.subscribers.poller.wake(run.runId);
    if (cancelRequested) live.stop("cancelled");
    const span = ports.tracing?.run(run);
    result = await prepareAndExecute(ports, { run, live, memory, span });
    if (stopReason(live) === "drain" && live.outcome === undefined)
      await release(ports, live, run, result);
    if (span !== undefined) endSpan(span, live);
  } catch (thrown) {
    logUnexpected(ports, run, thrown);
  } finally {
    live.close();
    memory.release();
    if (ports.live.get(run.runId) === live) ports.live.delete(run.runId);
    ports.reservations.forget(run.runId);
    ports.capacity.release(1, run.workspaceId);
  }
  const hasWaitingRuns = ports.capacity.hasOlderRuns || ports.capacity.hasBacklog(run.workspaceId);
  // After an unexpected error, it is unknown whether the agent has a concurrency limit.
  if (result?.hasConcurrencyLimit !== false || hasWaitingRuns) ports.worker.claim();
  // A stopping process claims nothing more. It notifies the other processes: if the agent's
  // concurrency limit was reached, they can now claim another queued run of the agent.
  if (!ports.capacity.isOpen) ports.processMessages.send({ kind: "queued" });
}

/** A run that this process executes, and what belongs to the execution. */
interface Execution {
  readonly run: OwnedRun;
  readonly live: LiveRun;
  readonly memory: ByteHold;
  readonly span: TraceSpan | undefined;
}

/** What must be known of an execution when it is over. */
interface ExecutionResult {
  /** Whether the agent has, or had, a concurrency limit. */
  readonly hasConcurrencyLimit: boolean;
  /** Undefined if the engine was not called. */
  readonly journal: RunJournal | undefined;
  /** Events that are written together with the run's release, if the run is released. */
  readonly unwritten: readonly ReportingEvent[];
  /** Whether the journal and `unwritten` report all model calls that were sent. */
  readonly isReported: boolean;
}

/**
 * Prepares the agent and reserves memory, then calls the engine. Ends the run if one of them fails,
 * unless another process owns the run or will resume it.
 */
async function prepareAndExecute(
  ports: ExecutePorts,
  { run, live, memory, span }: Execution,
): Promise<ExecutionResult> {
  const startedAt = elapsed() - run.elapsedMs;
  let hasConcurrencyLimit = run.hasConcurrencyLimit === true;
  let journal: RunJournal | undefined;
  try {
    const prepared =
      ports.agents.find(run) ??
      (await retryWhileLost(() => ports.agents.prepare(run), live.signal));
    const { limits } = prepared.config;
    describeAgent(span, run, prepared);
    hasConcurrencyLimit ||= limits.max_concurrent_runs !== null;
    const deadlineAt = startedAt + limits.timeout_seconds * 1_000;
    const timer = setTimeout(() => live.stop("deadline"), Math.max(0, deadlineAt - elapsed()));
    try {
      // The timer cannot fire before the model is called if nothing up to there waits for I/O.
      if (deadlineAt <= elapsed()) {
        live.stop("deadline");
        live.signal.throwIfAborted();
      }
      const { configBytes } = prepared;
      const { events, ...loaded } = await loadRun(ports, { run, live, memory, configBytes });
      journal = new RunJournal(ports, live, run, { events, modelName: prepared.config.model });
      const call = { run, live, memory, span, ...loaded, prepared, journal, deadlineAt };
      const unwritten = await onBehalfOf(run.workspaceId, () => callEngine(ports, call));
      return { hasConcurrencyLimit, journal, unwritten, isReported: true };
    } finally {
      clearTimeout(timer);
    }
  } catch (thrown) {
    const isUnwritten = thrown instanceof UnwrittenEnd;
    const calls = isUnwritten ? thrown.calls : [];
    await endAfterError(ports, live, run, { thrown, journal, calls });
    const [first, ...others] = calls;
    return {
      hasConcurrencyLimit,
      journal,
      unwritten: first === undefined ? [] : [lostStep("process_lost", [first, ...others])],
      // If `journal` is set, the engine may have been called. An engine that throws may have sent
      // model calls that it did not report.
      isReported: journal === undefined || isUnwritten,
    };
  }
}

/**
 * Releases a run that this process could not end because it stops. Ends the run instead if its
 * cancellation was requested. Never rejects.
 */
async function release(
  ports: ExecutePorts,
  live: LiveRun,
  run: OwnedRun,
  { journal, unwritten, isReported }: ExecutionResult,
): Promise<void> {
  const isUnread = journal === undefined && run.resumed;
  await (journal ?? new RunJournal(ports, live, run))
    .release(isUnread ? await readLostCall(ports, run) : unwritten, isReported)
    .catch((thrown) => {
      if (!(thrown instanceof RunStopped && thrown.reason === "cancelled"))
        return logUnexpected(ports, run, thrown);
      const calls = unwritten.flatMap((reporting) => reporting.calls);
      return endAfterError(ports, live, run, { thrown, journal, calls });
    });
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

/** What a call of the engine needs. */
interface EngineCall extends Execution, Omit<Loaded, "events"> {
  readonly prepared: PreparedAgent;
  readonly journal: RunJournal;
  readonly deadlineAt: number;
}

function callEngine(
  ports: ExecutePorts,
  { run, live, memory, span, input, wasWaiting, prepared, journal, deadlineAt }: EngineCall,
): Promise<readonly ReportingEvent[]> {
  const { config, model, priceOf, circuit, tools } = prepared;
  return executeRun({
    runId: run.runId,
    input,
    instructions: config.instructions,
    modelName: config.model,
    model,
    priceOf,
    limitAttempt: limitAttempts(ports, {
      run,
      config,
      priceOf,
      holdRun: () => holdRun(ports, { run, live, journal }),
    }),
    reserveOutputTokens: config.limits.reserve_output_tokens,
    limitRevision: () => ports.reservations.revision(run.workspaceId),
    wasWaiting,
    recordWait: (isWaiting) => ports.reservations.recordWait(run, isWaiting, live.signal),
    circuit,
    settings: config.model_settings,
    maxSteps: config.limits.max_steps,
    tools,
    journal,
    resumed: run.resumed,
    signal: live.signal,
    confirmOwner: () =>
      ports.process.holdsLease(run.owner) ? undefined : confirmOwner(ports, run, live),
    deadlineAt,
    hasSubscriber: () => ports.subscribers.outputBuffers.has(run.runId),
    onDelta: publishOutput(ports.subscribers.outputBuffers, live),
    onAttempt: (attempt) =>
      ports.reports.attempted(attempt, {
        ...run,
        modelName: config.model,
        reachedLimitMs:
          stopReason(live) === "deadline" ? config.limits.timeout_seconds * 1_000 : undefined,
      }),
    onToolError: (thrown) =>
      ports.log.write("a tool failed because of an internal error", {
        run_id: run.runId,
        reason: messageOf(thrown),
        stack: stackOf(thrown),
      }),
    timeouts: defaultTimeouts,
    maxAnswerBytes: config.limits.max_answer_bytes,
    memory,
    span,
  });
}

/**
 * Waits until it is known whether this process still owns the run.
 * @throws {RunStopped} if another process may own the run, or if the run is stopped meanwhile.
 */
async function confirmOwner(
  { process }: Pick<ExecutePorts, "process">,
  { owner }: OwnedRun,
  live: LiveRun,
): Promise<void> {
  // `dropRuns` does not stop a run of an earlier id that begins after it was called.
  if (!(await raceSignal(process.keepsLease(owner), live.signal))) live.stop("fenced");
  live.signal.throwIfAborted();
}
