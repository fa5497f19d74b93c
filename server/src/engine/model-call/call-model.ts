import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { defaultMaxAnswerBytes } from "@beckon/contract";
import { elapsed, sleep } from "../../base/clock.ts";
import { type AttemptLimit, type ChosenBound, explainBound } from "../call-limit.ts";
import type { Pass } from "../circuit/index.ts";
import { type MeteredCall, meteredModelCall } from "../metered-call.ts";
import { asSentence, ModelFailure } from "../model-failure.ts";
import type { RunRequest } from "../run-request.ts";
import { attemptCall } from "./attempt-call.ts";
import { AttemptLimiter, bytesOf } from "./attempt-limiter.ts";
import { AttemptRecord } from "./attempt-record.ts";
import type { Answer } from "./read-answer.ts";
import { readFailure } from "./read-failure.ts";
import { recordedWait } from "./recorded-wait.ts";
import { Retries } from "./retries.ts";
import { shouldStream, shouldStreamNext } from "./should-stream.ts";
import { type Used, usedForAnswer, usedWithoutAnswer } from "./used.ts";

export interface AnsweredCall extends Omit<Answer, "usage"> {
  /** All attempts that were sent. The last one got the answer. */
  readonly calls: readonly MeteredCall[];
  readonly durationMs: number;
  /** Number of failed attempts before the attempt that was answered. */
  readonly retries: number;
  /** How the run ends if the answer was truncated because of a limit: see `AttemptLimit`. */
  readonly endOfTruncated: AttemptLimit["endOfTruncated"];
  /** The output bound of the answered attempt, if Beckon chose it: see `AttemptLimiter`. */
  readonly chosenBound: ChosenBound | undefined;
  /** The model that answered, as the provider names it; undefined if it does not name it. */
  readonly responseModel: string | undefined;
}

/** Thrown when a model call got no answer. */
export class UnansweredCall extends Error {
  override readonly name = "UnansweredCall";
  /**
   * A `ModelFailure`, a `LimitStop`, the reason of the run's signal if the run was stopped, or an
   * unexpected error, for example of the database while a limit was reserved.
   */
  readonly reason: unknown;
  /** All attempts that were sent. Usage that no provider reported is estimated. */
  readonly calls: readonly MeteredCall[];
  /** Whether the run was stopped during the last one of `calls`. */
  readonly inFlight: boolean;

  constructor(reason: unknown, calls: readonly MeteredCall[], inFlight: boolean) {
    super("a model call got no answer");
    this.reason = reason;
    this.calls = calls;
    this.inFlight = inFlight;
  }
}

/**
 * Makes the model call of one step, with retries, within the time limits of the step and the run.
 * The retries of the provider's library are not used, because they ignore Beckon's deadlines and
 * because subscribers must get a `step_start` before each attempt.
 *
 * While the circuit of the model is open, the call waits for a pass within the same time limits
 * (see `circuit.ts`). A failed probe of an open circuit does not count as an attempt. Neither does
 * an attempt that the provider's rate limit rejected, as long as there is capacity for waiting
 * runs: if many runs have started at once, such a limit rejects some of them for minutes.
 *
 * If a limit applies, what an attempt can use is reserved before the attempt waits for the circuit:
 * a run that waits for a limit must not count as a call in flight. The wait for a limit does not
 * count towards the time limit of the step. If limits were changed while the attempt waited for the
 * circuit, it may have to return its pass, reserve and wait again. So it does if another process
 * may own the run (see `RunRequest.confirmOwner`).
 *
 * @param runCostMicros returns the cost of the run's earlier calls; null if it is not known.
 * @throws {UnansweredCall} if there is no answer. Its `reason` says why.
 */
export async function callModel(
  request: RunRequest,
  step: number,
  prompt: LanguageModelV4Prompt,
  runCostMicros: () => number | null = () => 0,
): Promise<AnsweredCall> {
  const { signal, timeouts, modelName, priceOf } = request;
  const options = callOptions(request, prompt);
  let streamed = shouldStream(request);
  const limiter = new AttemptLimiter(request, options, runCostMicros);
  let startedAt = elapsed();
  const calls: MeteredCall[] = [];
  const retries = new Retries(request);
  let inFlight = false;
  // If an attempt has used tokens, the estimate for a lost call stands for it: the journal does not
  // report it yet.
  const wait = <T>(waiting: Promise<T>, onFailure?: (result: T) => void) => {
    const record = calls.some(usesTokens) ? undefined : request.recordWait;
    return recordedWait(waiting, signal, record, onFailure);
  };
  const enter = async (endsAt: number): Promise<Pass | undefined> => {
    const entering = request.circuit?.enter(
      signal,
      endsAt,
      request.deadlineAt,
      retries.isWaitingRun,
    );
    return entering && wait(entering, (pass) => pass.returned());
  };
  /** Reserves what the next attempt can use, and waits for its pass. */
  const admit = async () => {
    for (;;) {
      startedAt += await limiter.reserve(calls);
      const endsAt = startedAt + timeouts.stepMs;
      const pass = await enter(endsAt);
      const confirming = request.confirmOwner?.();
      if (confirming === undefined && !limiter.mustReserveAgain()) return { endsAt, pass };
      pass?.returned();
      await confirming;
    }
  };
  try {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const { endsAt, pass } = await admit();
      request.onDelta?.({ type: "step_start", step, attempt });
      const sending = { step, options: limiter.options, streamed, endsAt };
      const attempted = await makeAttempt(request, sending, pass);
      const { answer, failure, used, responseModel, silentMs = 0 } = attempted;
      if (used !== undefined || failure !== undefined) {
        const outcome = used?.outcome ?? "unsent";
        const rateLimit = failure?.rateLimited ? failure.message : undefined;
        request.onAttempt?.({ outcome, silentMs: failure === undefined ? silentMs : 0, rateLimit });
      }
      if (used !== undefined) calls.push(meteredModelCall(priceOf, { step, modelName, ...used }));
      if (answer !== undefined) {
        const durationMs = Math.round(elapsed() - startedAt);
        const { endOfTruncated, chosenBound } = limiter;
        const limited = { endOfTruncated, chosenBound };
        return { ...answer, calls, durationMs, retries: attempt - 1, ...limited, responseModel };
      }
      inFlight = failure === undefined && used !== undefined;
      if (failure === undefined) throw signal.reason;
      if (!streamed && shouldStreamNext(request.settings, failure, silentMs)) {
        streamed = true;
        request.circuit?.streamNext();
      }
      const waitMs = retries.waitAfter(withOutputLimit(failure, limiter), { pass, used, endsAt });
      await wait(sleep(waitMs, signal));
    }
  } catch (thrown) {
    throw new UnansweredCall(thrown, calls, inFlight);
  } finally {
    retries.end();
  }
}

/** How one attempt is made. `endsAt` is the time at which the step times out. */
interface Sending {
  readonly step: number;
  readonly options: LanguageModelV4CallOptions;
  readonly streamed: boolean;
  readonly endsAt: number;
}

/** The result of one attempt: an answer, a failure or, if the run was stopped, neither. */
interface AttemptResult {
  readonly answer?: Answer;
  readonly failure?: ModelFailure;
  /** Undefined if the attempt did not reach the provider. */
  readonly used: Used | undefined;
  readonly responseModel?: string | undefined;
  /** With `failure`, see `AttemptRecord`; if the run was stopped, see `EndedAttempt`. Default 0. */
  readonly silentMs?: number;
}

/** Makes one attempt and reports its result to the circuit and to subscribers. */
async function makeAttempt(
  request: RunRequest,
  { step, options, streamed, endsAt }: Sending,
  pass: Pass | undefined,
): Promise<AttemptResult> {
  const { model, signal, maxAnswerBytes = defaultMaxAnswerBytes } = request;
  const { scrub = unchanged } = model;
  const record = new AttemptRecord(streamed);
  let answer: Answer;
  try {
    answer = await attemptCall({
      model,
      options,
      streamed,
      signal,
      endsAt,
      idleMs: request.timeouts.idleMs,
      onText: (type, text) => {
        pass?.answered();
        request.onDelta?.({ type: `${type}_delta`, step, text });
      },
      onData: () => pass?.received(),
      maxAnswerBytes,
      memory: request.memory,
      scrub,
      record,
    });
  } catch (thrown) {
    if (signal.aborted) {
      request.onDelta?.({ type: "step_end", step, complete: false });
      pass?.dropped();
      const silentMs = record.receivedBytes === 0 ? record.silentMs : 0;
      return { used: usedWithoutAnswer(record, undefined, { model, options }), silentMs };
    }
    const failure = readFailure(thrown, scrub);
    const error = failure.messageForCaller;
    request.onDelta?.({ type: "step_end", step, complete: false, error });
    if (failure.unreachable) pass?.failed(failure);
    // If the request was not sent, for example because no memory was left, the provider cannot have
    // responded.
    else if (!record.isSent) pass?.dropped();
    else pass?.answered();
    const { silentMs } = record;
    return { failure, used: usedWithoutAnswer(record, failure, { model, options }), silentMs };
  }
  pass?.answered();
  request.onDelta?.({ type: "step_end", step, complete: streamed });
  const { responseModel } = record;
  return { answer, used: usedForAnswer(answer, { model, options }), responseModel };
}

/**
 * Returns the failure. If the provider may have rejected an output limit that Beckon chose, the
 * message says so: the agent's configuration does not show this limit, and the same call worked
 * before the workspace had limits.
 */
function withOutputLimit(failure: ModelFailure, { chosenBound }: AttemptLimiter): ModelFailure {
  const { status, message } = failure;
  if (chosenBound === undefined || (status !== 400 && status !== 422) || !/token/i.test(message))
    return failure;
  return new ModelFailure(
    `${asSentence(message)} ${explainBound(chosenBound)} If the model allows fewer, set max_output_tokens or lower limits.reserve_output_tokens of the agent.`,
    { ...failure, status },
  );
}

const unchanged = (text: string) => text;

const usesTokens = ({ usage }: MeteredCall) => usage.input_tokens + usage.output_tokens > 0;

/** Returns the size of a model call's request, with this prompt, in bytes of UTF-8. */
export function requestBytes(request: RunRequest, prompt: LanguageModelV4Prompt): number {
  return bytesOf(callOptions(request, prompt));
}

function callOptions(
  { settings, tools }: RunRequest,
  prompt: LanguageModelV4Prompt,
): LanguageModelV4CallOptions {
  const { temperature, max_output_tokens, reasoning_effort } = settings;
  return {
    prompt,
    ...(temperature !== undefined && { temperature }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(reasoning_effort !== undefined && { reasoning: reasoning_effort }),
    ...(tools.length > 0 && {
      tools: tools.map(
        ({ name, description, parameters }): LanguageModelV4FunctionTool => ({
          type: "function",
          name,
          description,
          inputSchema: parameters,
        }),
      ),
    }),
  };
}
