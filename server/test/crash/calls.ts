import { setTimeout as delay } from "node:timers/promises";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import type { Plan } from "./world.ts";

/** A caller's request, with all that became of it. */
export interface Call {
  readonly plan: Plan;
  /** `async`: invoke with `Prefer: respond-async`. */
  readonly door: "invoke" | "fire" | "async";
  /** Sent with an Idempotency-Key, and so again after a broken connection or a 503. */
  readonly keyed: boolean;
  tries: number;
  /** A connection broke, a server was unavailable, or patience ran out. */
  faulted: boolean;
  /** Answers of 503: nothing goes on of what they answered. */
  unavailable: number;
  /** An answer said that an earlier request with the key had started the run. */
  replayed: boolean;
  /** Of each answer that acknowledged a run. */
  readonly acknowledged: {
    readonly runId: string;
    readonly status: number;
    readonly output: string | undefined;
  }[];
  /** Of the last answer. */
  status: number | undefined;
}

/** Milliseconds that a caller waits for one answer, and a keyed one for any. */
const patience = 60_000;

/** Sends one call, to a server that is up, until it is settled. `at`: the first try goes there. `onAnswer`: its first bytes are here. */
export interface Caller {
  readonly calls: readonly Call[];
  readonly acknowledged: number;
  send(
    call: Pick<Call, "plan" | "door" | "keyed">,
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
    const path = call.door === "fire" ? `/triggers/${triggerToken}` : `/agents/${agent.id}/invoke`;
    const input = JSON.stringify(call.plan);
    const response = await fetch(`${url}/api/public${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(call.door === "fire" ? {} : { "x-api-key": agent.token }),
        ...(call.door === "async" ? { prefer: "respond-async" } : {}),
        ...(call.keyed ? { "idempotency-key": call.plan.nonce } : {}),
      },
      body: call.door === "fire" ? input : JSON.stringify({ input }),
      signal: AbortSignal.timeout(patience),
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
        tries: 0,
        faulted: false,
        unavailable: 0,
        replayed: false,
        acknowledged: [],
        status: undefined,
      };
      calls.push(call);
      for (const deadline = performance.now() + patience; performance.now() < deadline; ) {
        const up = fleet.servers.filter((server) => server.up);
        const server =
          call.tries === 0 && at !== undefined ? fleet.servers[at] : up[random.below(up.length)];
        if (server === undefined) {
          await delay(20);
          continue;
        }
        call.tries += 1;
        const broken = await attempt(
          call,
          server.url,
          call.tries === 1 ? onAnswer : undefined,
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
