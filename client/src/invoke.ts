import { maxRepeatMs, newIdempotencyKey } from "./call.ts";
import { BeckonError, explainStart, lastFailure, withRunId } from "./error.ts";
import type { Operations } from "./generated/operations.ts";
import type { InvokeAgentBody, Run } from "./generated/schemas.ts";
import type { LabelOptions, OnceOptions } from "./options.ts";
import { jitter, sleep } from "./retry.ts";

/** Options of `agents.start`. */
export interface StartOptions extends OnceOptions, LabelOptions {
  /**
   * The agent's token. It takes precedence over the option `key`, which can also be a token.
   * Default: the option `key`.
   */
  readonly token?: string | undefined;
}

/** Options of `agents.invoke`. */
export interface InvokeOptions extends StartOptions {
  /**
   * Maximum seconds that one request waits for the run's end; the client then sends the next
   * request. Must be below the timeout of every proxy between client and server. At least 1,
   * default 50. A value above 240 counts as 240. With `tryTimeout`, a request waits at most as long
   * as its response still arrives within that time. With less than 2,000 milliseconds of `timeout`
   * or `tryTimeout`, the first request does not wait.
   */
  readonly wait?: number | undefined;
  /**
   * Milliseconds for one request, after which its response counts as lost. Must be above 1,000.
   * Default: 20 seconds more than the request waits.
   */
  readonly tryTimeout?: number | undefined;
  /**
   * Maximum milliseconds to wait for the run's end. Default and maximum: 23 hours. The server can
   * forget the Idempotency-Key later, and a repeated request would then start a second run.
   */
  readonly timeout?: number | undefined;
  /**
   * Called once with the id of the run, as soon as it is known and if the run has not ended by
   * then: when the first request has waited.
   */
  readonly onStarted?: ((runId: string) => void) | undefined;
}

/** The output of a run that succeeded. */
export interface Invoked {
  readonly run_id: string;
  readonly output: string;
}

/** A run that was started without waiting for it. */
export interface StartedRun {
  readonly run_id: string;
  readonly status: Run["status"];
}

/**
 * Default of `retries` once the id of the run is known. From then on the run continues on the
 * server, so the client keeps trying for some minutes while no server can be reached.
 */
const maxJoinRetries = 40;

/**
 * Maximum seconds that one request waits. `fetch` of Node.js ends a request whose response headers
 * do not arrive within 300 seconds, so the client would never learn the id of the run.
 */
const maxWaitSeconds = 240;

/** Returns the seconds that a request can wait for its response to arrive within `ms`. */
const secondsWithin = (ms: number) => Math.floor(ms / 1_000) - 1;

/**
 * Runs an agent and waits for its output, at most 23 hours. After `wait` seconds, or if the
 * response is lost, the request is repeated. It has the same Idempotency-Key, so it waits for the
 * same run and does not start a second one. The run continues if the caller stops waiting.
 * @throws BeckonError with the run's error code and id if the run failed; `timed_out` after
 *   `timeout` or 23 hours, with the run's id if that is known; `unexpected_answer` if a repeated
 *   request started a second run
 */
export async function invoke(
  operations: Operations,
  agentId: string,
  body: InvokeAgentBody,
  {
    token,
    wait = 50,
    timeout = maxRepeatMs,
    idempotencyKey = newIdempotencyKey(),
    onStarted,
    tryTimeout,
    tags,
    ...options
  }: InvokeOptions = {},
): Promise<Invoked> {
  if (!Number.isInteger(wait) || wait < 1)
    throw new TypeError("invoke: wait must be an integer of 1 or more seconds");
  if (tryTimeout !== undefined && !(tryTimeout > 1_000)) {
    throw new TypeError(
      "invoke: tryTimeout must be above 1000 ms, because one request waits at least 1 second",
    );
  }
  const maxSeconds = Math.min(wait, maxWaitSeconds, secondsWithin(tryTimeout ?? Infinity));
  // The caller can change `body` and `tags` while the run is executed, but a request that repeats
  // an Idempotency-Key must have the same ones.
  const sent = structuredClone(body);
  const sentTags = tags?.slice();
  const maxWaitMs = Math.min(timeout, maxRepeatMs);
  const sentAt = Date.now();
  const deadline = performance.now() + maxWaitMs;
  let runId: string | undefined;
  try {
    for (;;) {
      const began = performance.now();
      // `performance.now` does not count the time that the machine is suspended; the server does.
      const remainingMs = Math.min(deadline - began, sentAt + maxRepeatMs - Date.now());
      if (runId !== undefined && remainingMs <= 0) throw timedOut(maxWaitMs, runId);
      // The last request asks for a response one second before the deadline. With this response the
      // client gets the run's id, which the timeout error contains. If even the response to a wait
      // of one second can be too late, the first request gets the id without a wait.
      const minSeconds = runId === undefined ? 0 : 1;
      const seconds = Math.max(minSeconds, Math.min(maxSeconds, secondsWithin(remainingMs)));
      const response = await operations.agents.invoke(agentId, sent, {
        ...options,
        tags: sentTags,
        retries: options.retries ?? (runId === undefined ? undefined : maxJoinRetries),
        key: token ?? options.key,
        idempotencyKey,
        prefer: `wait=${seconds}`,
        timeout: Math.max(1, remainingMs),
        tryTimeout: tryTimeout ?? (seconds + 20) * 1_000,
      });
      requireSameRun(runId, response.run_id);
      if ("output" in response) return { run_id: response.run_id, output: response.output };
      if (runId === undefined) onStarted?.(response.run_id);
      runId = response.run_id;
      // If the server responds much earlier than asked, for example because it is shutting down,
      // this pause avoids a busy loop.
      if (performance.now() - began < seconds * 500) await sleep(jitter(1_000), options.signal);
    }
  } catch (thrown) {
    if (thrown instanceof BeckonError && thrown.code === "timed_out")
      throw timedOut(maxWaitMs, runId, thrown);
    if (thrown instanceof BeckonError) requireSameRun(runId, thrown.runId);
    throw explainStart(withRunId(thrown, runId));
  }
}

/**
 * Checks that a repeated request got the run that the first request started. The server starts a
 * second run if the caller's own Idempotency-Key is so old that the server has forgotten it.
 * @throws BeckonError with the id of the first run, if both ids are known and differ
 */
function requireSameRun(runId: string | undefined, repeatedId: string | undefined): void {
  if (runId === undefined || repeatedId === undefined || repeatedId === runId) return;
  throw new BeckonError({
    code: "unexpected_answer",
    message:
      `The server has forgotten the Idempotency-Key of ${runId}, so the repeated request ` +
      `started ${repeatedId}. Check both runs, and cancel the one that you do not need if it ` +
      `continues.`,
    runId,
  });
}

/** @param thrown the error of a request that took too long */
function timedOut(timeout: number, runId: string | undefined, thrown?: BeckonError): BeckonError {
  const { idempotencyKey, cause } = thrown ?? {};
  let state = `${runId} continues.`;
  if (runId === undefined)
    state =
      idempotencyKey === undefined
        ? "This call has not started it."
        : "It is not known whether it was started.";
  return new BeckonError({
    code: "timed_out",
    message: `The run has not ended within ${timeout} ms. ${state}${lastFailure(cause)}`,
    runId,
    idempotencyKey: runId === undefined ? idempotencyKey : undefined,
    cause,
  });
}

/**
 * Starts a run without waiting for its end.
 * @throws BeckonError if the start fails or its response is lost
 */
export async function start(
  operations: Operations,
  agentId: string,
  body: InvokeAgentBody,
  { token, ...options }: StartOptions = {},
): Promise<StartedRun> {
  const request = { ...options, key: token ?? options.key, prefer: "respond-async" };
  const response = await operations.agents.invoke(agentId, body, request).catch((thrown) => {
    throw explainStart(thrown);
  });
  return { run_id: response.run_id, status: "status" in response ? response.status : "succeeded" };
}
