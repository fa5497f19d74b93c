import { newKey } from "./call.ts";
import { aboutRun, BeckonError } from "./error.ts";
import type { Operations } from "./generated/operations.ts";
import type { InvokeAgentBody } from "./generated/schemas.ts";
import type { OnceOptions } from "./options.ts";
import { jitter, sleep } from "./retry.ts";

/** How a run is started without waiting for it. */
export interface StartOptions extends OnceOptions {
  /** The agent's token. Default: the key of the client, which then needs the scope `agents:invoke`. */
  readonly token?: string | undefined;
}

/** How an agent is invoked. */
export interface InvokeOptions extends StartOptions {
  /** Seconds that one request may stay without an answer: less than the least patient proxy on the way allows. Default 50. */
  readonly wait?: number | undefined;
}

/** The answer of a run that succeeded. */
export interface Invoked {
  readonly run_id: string;
  readonly output: string;
}

/** A run that has been started and is not waited for. */
export interface StartedRun {
  readonly run_id: string;
  readonly status: string;
}

/** Idempotency-Keys are kept for 24 hours at least; joining a run later than that could start another one. */
const longest = 20 * 3_600_000;

/** A run that is known goes on, so whoever waits for it is patient while its server is away: some minutes. */
const patience = 40;

/**
 * Runs an agent and waits for its output, however long it takes: a request that nobody has answered for `wait` seconds is answered with
 * the run's id, and asked again with the same Idempotency-Key, which joins the run. So does one whose answer was lost. The run is started
 * once, whatever happens on the way, and goes on when the caller stops waiting.
 * @throws BeckonError with the run's code and id when it failed; `timed_out` with its id when `timeout` has passed.
 */
export async function invoke(
  operations: Operations,
  agentId: string,
  body: InvokeAgentBody,
  {
    token,
    wait = 50,
    timeout = longest,
    idempotencyKey = newKey(),
    ...options
  }: InvokeOptions = {},
): Promise<Invoked> {
  if (!Number.isInteger(wait) || wait < 1)
    throw new TypeError("invoke: wait must be a whole number of seconds, 1 or more");
  const until = performance.now() + timeout;
  let runId: string | undefined;
  try {
    for (;;) {
      const began = performance.now();
      const left = until - began;
      // The last answer before the end should still come, and say which run goes on.
      const seconds = Math.max(1, Math.min(wait, Math.floor(left / 1_000) - 1));
      const answer = await operations.agents.invoke(agentId, body, {
        ...options,
        retries: options.retries ?? (runId === undefined ? undefined : patience),
        key: token ?? options.key,
        idempotencyKey,
        prefer: `wait=${seconds}`,
        timeout: Math.max(1, left),
        tryTimeout: options.tryTimeout ?? (seconds + 20) * 1_000,
      });
      if ("output" in answer) return { run_id: answer.run_id, output: answer.output };
      runId = answer.run_id;
      // Answered early: by a server that is being stopped, say. It must not be asked again at once, and again.
      if (performance.now() - began < seconds * 500)
        await sleep(jitter(1_000), options.signal ?? never);
    }
  } catch (thrown) {
    if (thrown instanceof BeckonError && thrown.code === "timed_out")
      throw timedOut(timeout, runId);
    throw aboutRun(thrown, runId);
  }
}

function timedOut(timeout: number, runId: string | undefined): BeckonError {
  const state = runId === undefined ? "whether it was started is not known" : `${runId} goes on`;
  return new BeckonError({
    code: "timed_out",
    message: `The run has not ended within ${timeout} ms; ${state}.`,
    runId,
  });
}

const never = new AbortController().signal;

/** Starts a run and does not wait for its end. */
export async function start(
  operations: Operations,
  agentId: string,
  body: InvokeAgentBody,
  { token, ...options }: StartOptions = {},
): Promise<StartedRun> {
  const answer = await operations.agents.invoke(agentId, body, {
    ...options,
    key: token ?? options.key,
    prefer: "respond-async",
  });
  return { run_id: answer.run_id, status: "status" in answer ? answer.status : "succeeded" };
}
