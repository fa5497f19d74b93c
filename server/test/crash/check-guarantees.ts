import type { Call } from "./calls.ts";
import { maxAttempts } from "./installation.ts";
import type { StoredRun } from "./journal.ts";
import { answerOf, type Effect, type Plan, type World } from "./world.ts";

/** The result of a test. */
export interface CheckReport {
  /** One line for each violation of a guarantee. */
  readonly broken: readonly string[];
  readonly figures: Figures;
}

export interface Figures {
  readonly runs: number;
  readonly acknowledged: number;
  /** Runs that were executed by more than one process. */
  readonly takenOver: number;
  /** Runs that ended `interrupted`. */
  readonly interrupted: number;
  /** Requests whose first response was lost and whose repeat found the run. */
  readonly replayed: number;
  /** Calls that the model received. */
  readonly modelCalls: number;
  /** Model calls whose answer is in a journal. */
  readonly answered: number;
  /** Model calls to which the model responded with an error. */
  readonly failed: number;
  /** Model calls that a journal reports as lost with their process. */
  readonly lost: number;
  /** Executions of tool calls that are unsafe to repeat. */
  readonly unsafeEffects: number;
  /** Tool calls that can be repeated, each counted once even if it was executed several times. */
  readonly safeEffects: number;
  /** Tool calls that can be repeated and were executed more than once. */
  readonly repeated: number;
  /** Tool calls whose outcome in the journal is `unknown`. */
  readonly unknown: number;
  /** Requests that met no fault, and whose run was executed by one process only. */
  readonly unfaulted: number;
  /** Share of the `unfaulted` requests that did not succeed, from 0 to 1. */
  readonly unfaultedFailures: number;
}

const ends: Readonly<Record<string, string>> = {
  succeeded: "run.finished",
  failed: "run.failed",
  cancelled: "run.cancelled",
};

/** Checks the database against the records of callers, model and effects. */
export function checkGuarantees(
  stored: readonly StoredRun[],
  calls: readonly Call[],
  world: Pick<World, "effects" | "modelCalls">,
): CheckReport {
  // Runs without an Idempotency-Key that were written although the caller got a 503. The server
  // cancels them at once.
  const withdrawn = Map.groupBy(stored.filter(isWithdrawn), nonceOf);
  const runs = stored.filter((run) => !isWithdrawn(run));
  const byNonce = Map.groupBy(runs, nonceOf);
  const effects = Map.groupBy(world.effects, ({ nonce }) => nonce);
  const broken = [
    ...stored.flatMap((run) => wrongWithJournal(run).map((what) => `${run.id}: ${what}`)),
    ...calls.flatMap((call) => {
      const { nonce } = call.plan;
      const cancelled = withdrawn.get(nonce)?.length ?? 0;
      return [
        ...wrongWithCall(call, byNonce.get(nonce) ?? []),
        ...(cancelled > (call.keyed ? 0 : call.unavailable)
          ? [
              `${cancelled} of its runs were cancelled, it got ${call.unavailable} responses of 503, and it has ${call.keyed ? "a" : "no"} key`,
            ]
          : []),
      ].map((what) => `${nonce}: ${what}`);
    }),
    ...runs.flatMap((run) => {
      const { made = 0, failed = 0 } = world.modelCalls.get(nonceOf(run)) ?? {};
      return [
        ...wrongWithModelCalls(run, made, failed),
        ...wrongWithEffects(run, effects.get(nonceOf(run)) ?? []),
      ].map((what) => `${run.id}: ${what}`);
    }),
    ...[...effects.keys(), ...world.modelCalls.keys()]
      .filter((nonce) => !byNonce.has(nonce))
      .map((nonce) => `${nonce}: there is no run, but model calls or effects`),
  ];
  return { broken, figures: figuresOf(runs, calls, world, byNonce) };
}

const nonceOf = (run: StoredRun) => (JSON.parse(run.payload) as Plan).nonce;

/**
 * Whether the server cancelled the run because the caller that started it had got a 503 response.
 * Such a run is recognized by its cancellation before any model call, because the callers in these
 * tests never cancel a run.
 */
export const isWithdrawn = (run: StoredRun): boolean =>
  run.status === "cancelled" && run.error_code === "cancelled" && run.steps + run.lost === 0;

function wrongWithJournal(run: StoredRun): string[] {
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string) => void (holds || wrong.push(what));
  const end = ends[run.status];
  const starts = run.types.filter((type) => type === "run.started").length;
  expect(end !== undefined, `it has not ended: ${run.status}, owner ${run.owner}`);
  expect(
    run.seqs.length === run.last_seq && run.seqs.every((seq, index) => seq === index + 1),
    `its journal has gaps: ${run.seqs.join(" ")} of ${run.last_seq}`,
  );
  expect(run.ends.length === 1, `it ended ${run.ends.length} times: ${run.ends.join(", ")}`);
  expect(
    run.ends.length === 0 || run.ends[0] === end,
    `its status ${run.status} is not its last event's, ${run.ends[0]}`,
  );
  expect(
    run.types.at(-1) === run.ends[0],
    `its journal continues after its end: ${run.types.at(-1)}`,
  );
  expect(run.has_result, "it has no result");
  expect(starts === 1 || (starts === 0 && isWithdrawn(run)), `it was started ${starts} times`);
  expect(
    run.claims === run.fence,
    `${run.claims} claims are journaled, and its fence is ${run.fence}`,
  );
  expect(run.attempt <= maxAttempts, `it was attempted ${run.attempt} times`);
  if (run.status === "succeeded") {
    expect(run.output === answerOf(nonceOf(run)), `its output is another's: ${run.output}`);
  } else {
    expect(
      isWithdrawn(run) || (run.error_code === "interrupted" && run.attempt === maxAttempts),
      `it ended ${run.status} with ${run.error_code} at attempt ${run.attempt}`,
    );
  }
  return wrong;
}

function wrongWithCall(
  { plan, source, keyed, acknowledged, status, faulted }: Call,
  runs: readonly StoredRun[],
): string[] {
  const wrong: string[] = [];
  const ids = new Set(acknowledged.map(({ runId }) => runId));
  if (runs.length > 1) wrong.push(`one request made ${runs.length} runs`);
  if (ids.size > 1) wrong.push(`its repeats returned ${ids.size} runs`);
  for (const id of ids) if (runs[0]?.id !== id) wrong.push(`${id} was acknowledged and is lost`);
  for (const answer of acknowledged) {
    if (answer.status === 200 && source === "invoke" && answer.output !== answerOf(plan.nonce))
      wrong.push(`it was answered ${answer.output}`);
    if (answer.status === 500 && runs[0]?.status === "succeeded")
      wrong.push("it got an error, and its run succeeded");
  }
  if (keyed && acknowledged.length === 0)
    wrong.push(`it has a key and was never acknowledged; last status ${status}`);
  if (!faulted && acknowledged.length === 0)
    wrong.push(`it had no fault and was not acknowledged: ${status}`);
  return wrong;
}

/**
 * Checks that steps + failed <= made <= steps + failed + lost. `made` is the number of calls that
 * the model received, and `failed` how many of them it answered with an error. `steps` and `lost`
 * come from the journal. The model may or may not have received a call that the journal reports as
 * lost.
 */
function wrongWithModelCalls({ steps, lost }: StoredRun, made: number, failed: number): string[] {
  if (steps + failed <= made && made <= steps + failed + lost) return [];
  return [
    `the model was called ${made} times, ${failed} of them failed; the journal has ${steps} steps and ${lost} lost ones`,
  ];
}

function wrongWithEffects(run: StoredRun, effects: readonly Effect[]): string[] {
  const wrong: string[] = [];
  for (const [call, made] of Map.groupBy(effects, (effect) => effect.call)) {
    const keys = new Set(made.map(({ key }) => key));
    if (made[0]?.tool === "unsafe_effect" && made.length > 1)
      wrong.push(`the unsafe call ${call} was made ${made.length} times`);
    if (keys.size > 1) wrong.push(`the call ${call} was made with ${keys.size} keys`);
  }
  const keys = new Set(effects.map(({ key }) => key));
  if (keys.size !== new Set(effects.map(({ call }) => call)).size)
    wrong.push("two of its calls share a key");
  const journaled = new Map(run.calls.map((call) => [call.key, call]));
  for (const key of keys)
    if (!journaled.has(key)) wrong.push(`the call ${key} was made without an intent`);
  for (const { key, tool, outcome } of run.calls) {
    if (outcome === null) wrong.push(`the call ${key} has no result`);
    if (outcome === "ok" && !keys.has(key))
      wrong.push(`the call ${key} has a result and was not made`);
    if (outcome === "unknown" && run.attempt === 1)
      wrong.push(`the call ${key} of ${tool} is unknown although the run kept its process`);
    if (outcome === "unknown" && tool === "safe_effect" && run.status === "succeeded")
      wrong.push(`the safe call ${key} was given up`);
  }
  return wrong;
}

function figuresOf(
  runs: readonly StoredRun[],
  calls: readonly Call[],
  world: Pick<World, "effects" | "modelCalls">,
  byNonce: ReadonlyMap<string, readonly StoredRun[]>,
): Figures {
  const sum = (numbers: Iterable<number>) =>
    [...numbers].reduce((total, number) => total + number, 0);
  const safe = Map.groupBy(
    world.effects.filter(({ tool }) => tool === "safe_effect"),
    ({ key }) => key,
  );
  const unfaulted = calls.filter(
    (call) => !call.faulted && byNonce.get(call.plan.nonce)?.every((run) => run.attempt === 1),
  );
  const failures = unfaulted.filter(
    (call) =>
      byNonce.get(call.plan.nonce)?.[0]?.status !== "succeeded" || call.acknowledged.length === 0,
  );
  return {
    runs: runs.length,
    acknowledged: new Set(calls.flatMap((call) => call.acknowledged.map(({ runId }) => runId)))
      .size,
    takenOver: runs.filter((run) => run.attempt > 1).length,
    interrupted: runs.filter((run) => run.error_code === "interrupted").length,
    replayed: calls.filter((call) => call.replayed).length,
    modelCalls: sum([...world.modelCalls.values()].map(({ made }) => made)),
    failed: sum([...world.modelCalls.values()].map(({ failed }) => failed)),
    answered: sum(runs.map(({ steps }) => steps)),
    lost: sum(runs.map(({ lost }) => lost)),
    unsafeEffects: world.effects.filter(({ tool }) => tool === "unsafe_effect").length,
    safeEffects: safe.size,
    repeated: [...safe.values()].filter((made) => made.length > 1).length,
    unknown: runs.flatMap((run) => run.calls).filter(({ outcome }) => outcome === "unknown").length,
    unfaulted: unfaulted.length,
    unfaultedFailures: unfaulted.length === 0 ? 0 : failures.length / unfaulted.length,
  };
}
