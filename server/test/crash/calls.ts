import { setTimeout as delay } from "node:timers/promises";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import type { Plan } from "./world.ts";

/** One logical request of a caller, with all its attempts. */
export interface Call {
  readonly plan: Plan;
  /** `async`: invoke with `Prefer: respond-async`. */
  readonly source: "invoke" | "fire" | "async";
  /**
   * Whether the request has an Idempotency-Key. If so, it is repeated after a broken connection or
   * a 503.
   */
  readonly keyed: boolean;
  attempts: number;
  /** Whether a connection broke, a server was unavailable, or the wait timed out. */
  faulted: boolean;
  /**
   * Number of 503 responses. A server can have written a run before it responds with 503. If the
   * call has no Idempotency-Key, the server must cancel this run. With a key, it must return the
   * run to the next attempt.
   */
  unavailable: number;
  /** Whether a response said that an earlier request with the same key had started the run. */
  replayed: boolean;
  /** One entry for each response that acknowledged a run. */
  readonly acknowledged: {
    readonly runId: string;
    readonly status: number;
    readonly output: string | undefined;
  }[];
  /** Status of the last response; undefined before the first. */
  status: number | undefined;
}

/**
 * Maximum wait for the response of one attempt, and for all attempts of a call with an
 * Idempotency-Key.
 */
const maxWaitMs = 60_000;

/**
 * Sends calls. Repeats a call that has an Idempotency-Key until it gets a response other than 503.
 */
export interface Caller {
  readonly calls: readonly Call[];
  readonly acknowledged: number;
  /**
   * @param options.at position in the fleet of the server that gets the first attempt. A server
   *   that replaces a killed one has the same position.
   * @param options.onAnswer called when the response of the first attempt begins.
   */
  send(
    call: Pick<Call, "plan" | "source" | "keyed">,
    options?: { at?: number; onAnswer?: () => void },
  ): Promise<Call>;
}

export function openCaller({ fleet, agent, triggerToken }: Installation, random: Random): Caller {
  const calls: Call[] = [];
  let acknowledged = 0;

  async function attempt(
    call: Call,
    url: string,
    onAnswer: (() => void) | undefined,
  ): Promise<void> {
    const path =
      call.source === "fire" ? `/triggers/${triggerToken}` : `/agents/${agent.id}/invoke`;
    const input = JSON.stringify(call.plan);
    const response = await fetch(`${url}/api/public${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(call.source === "fire" ? {} : { "x-api-key": agent.token }),
        ...(call.source === "async" ? { prefer: "respond-async" } : {}),
        ...(call.keyed ? { "idempotency-key": call.plan.nonce } : {}),
      },
      body: call.source === "fire" ? input : JSON.stringify({ input }),
      signal: AbortSignal.timeout(maxWaitMs),
    });
    onAnswer?.();
    call.status = response.status;
    if (response.status === 503) call.unavailable += 1;
    const { run_id: runId, output } = (await response.json()) as {
      run_id?: string;
      output?: string;
    };
    if (runId !== undefined) {
      if (call.acknowledged.length === 0) acknowledged += 1;
      call.acknowledged.push({ runId, status: response.status, output });
    }
    if (response.headers.has("idempotency-replayed")) call.replayed = true;
  }

  return {
    calls,
    get acknowledged() {
      return acknowledged;
    },
    async send(wanted, { at, onAnswer } = {}) {
      const call: Call = {
        ...wanted,
        attempts: 0,
        faulted: false,
        unavailable: 0,
        replayed: false,
        acknowledged: [],
        status: undefined,
      };
      calls.push(call);
      for (const deadline = performance.now() + maxWaitMs; performance.now() < deadline; ) {
        const up = fleet.servers.filter((server) => server.up);
        const server =
          call.attempts === 0 && at !== undefined ? fleet.servers[at] : up[random.below(up.length)];
        if (server === undefined) {
          await delay(20);
          continue;
        }
        call.attempts += 1;
        const broken = await attempt(
          call,
          server.url,
          call.attempts === 1 ? onAnswer : undefined,
        ).then(
          () => call.status === 503,
          () => true,
        );
        if (!broken) return call;
        call.faulted = true;
        if (!call.keyed) return call;
        await delay(50);
      }
      call.faulted = true;
      return call;
    },
  };
}
