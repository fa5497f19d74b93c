import type { RunErrorCode, TokenUsage } from "@beckon/contract";
import { elapsed, sleep } from "../base/clock.ts";
import { failureKind } from "../base/database/index.ts";
import { messageOf, Refusal } from "../base/errors.ts";
import { defaultTimeouts, type Journal, RunStopped, executeRun as runEngine, type StopReason } from "../engine/index.ts";
import type { LastAttempt } from "./claim-statement.ts";
import type { Hearer } from "./hearer.ts";
import { readJournal } from "./journal-store.ts";
import { LiveRun } from "./live-run.ts";
import { type Claim, type OwnedJournal, openJournal } from "./open-journal.ts";
import { prepareAgent, preparedAgent } from "./prepare-agent.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import type { Runtime } from "./runtime.ts";
import { tellOutput } from "./tell-output.ts";

/** A run that this process owns, and has reserved room for. */
export interface OwnedRun extends Claim {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
  readonly input: string;
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
export async function executeOwned(runtime: Runtime, run: OwnedRun): Promise<void> {
  const { fromQueue = false, lastAttempt, cancelRequested = false } = run;
  const live = new LiveRun(run, run.lastSeq, { watchedElsewhere: fromQueue, lastAttempt });
  runtime.live.set(run.runId, live);
  if (run.hearer !== undefined) runtime.hearers.add(run.runId, run.hearer);
  runtime.followers.wake(run.runId);
  if (cancelRequested) live.stop("cancelled");
  const startedAt = elapsed() - run.elapsedMs;
  let limited = false;
  let journal: OwnedJournal | undefined;
  try {
    const events = run.resumed ? await persist(live, () => readJournal(runtime.database, run)) : [];
    journal = openJournal(runtime, live, run, events);
    const prepared = preparedAgent(runtime, run) ?? (await prepare(runtime, live, run, journal));
    if (prepared !== undefined) {
      limited = prepared.config.limits.max_concurrent_runs !== null;
      await execute(runtime, live, run, prepared, journal, startedAt);
    }
  } catch (thrown) {
    report(runtime, run, thrown);
    journal ??= openJournal(runtime, live, run, []);
    await endUnexecuted(thrown, live, journal).catch((again) => report(runtime, run, again));
  }
  if (stopReason(live) === "drain" && live.outcome === undefined) {
    await (journal ?? openJournal(runtime, live, run, [])).handBack().catch((thrown) => report(runtime, run, thrown));
  }
  live.close();
  if (runtime.live.get(run.runId) === live) runtime.live.delete(run.runId);
  runtime.room.taken--;
  if (limited || !runtime.room.queueEmpty) runtime.wakeWorker();
  // A process that stops gives what it frees to the others.
  if (!runtime.room.open) runtime.wakeUps.tell({ kind: "queued" });
}

function report(runtime: Runtime, run: OwnedRun, thrown: unknown): void {
  if (thrown instanceof RunStopped) return;
  runtime.log.error({ run_id: run.runId, reason: messageOf(thrown) }, "executing a run failed in a way it should not");
}

/**
 * The engine ends every run it is given; this is for what never came to it, or failed by a fault of ours: a run that is ours and of which
 * nobody thinks any more would stay `running` for as long as this process lives.
 */
async function endUnexecuted(thrown: unknown, live: LiveRun, journal: Journal): Promise<void> {
  if (live.outcome !== undefined) return;
  const usage = spentBy([...journal.events, ...live.events]);
  const failed = (code: RunErrorCode, message: string) =>
    journal.end({ status: "failed", error: { code, message }, usage, cost_micros: null }, []);
  if (!(thrown instanceof RunStopped)) {
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

function execute(
  runtime: Runtime,
  live: LiveRun,
  run: OwnedRun,
  { config, model, circuit, tools }: PreparedAgent,
  journal: Journal,
  startedAt: number,
): Promise<void> {
  const deadlineAt = startedAt + config.limits.timeout_seconds * 1_000;
  const timer = setTimeout(() => live.stop("deadline"), Math.max(0, deadlineAt - elapsed()));
  return runEngine({
    runId: run.runId,
    input: run.input,
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
    watched: () => runtime.hearers.has(run.runId),
    onDelta: tellOutput(runtime.hearers, live),
    timeouts: defaultTimeouts,
  }).finally(() => clearTimeout(timer));
}

/** The agent as pinned, or undefined when the run had to end because it cannot be had. */
async function prepare(runtime: Runtime, live: LiveRun, run: OwnedRun, journal: Journal): Promise<PreparedAgent | undefined> {
  try {
    return await persist(live, () => prepareAgent(runtime, run));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const usage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
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
