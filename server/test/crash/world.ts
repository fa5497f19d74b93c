import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Behaviour,
  type ModelServer,
  says,
  startModelServer,
  status,
} from "../model-server.ts";

/** What a run does. The input of the run is its plan as JSON, which the model follows. */
export interface Plan {
  /** Identifies the run. */
  readonly nonce: string;
  /** Tool calls of each model call, in order; then the model answers. */
  readonly steps: readonly ("safe" | "unsafe" | "both")[];
  /** Duration of each model call and effect, in milliseconds. */
  readonly thinkMs: number;
  /** Number of model calls that fail before the first answer. */
  readonly failures: number;
}

/** One tool call that arrived at the service. */
export interface Effect {
  readonly tool: string;
  readonly nonce: string;
  /** Index of the call within its run. */
  readonly call: number;
  /** The idempotency key of the call. */
  readonly key: string;
  /** The server process that made the call. */
  readonly pid: number;
}

/** Number of model calls of one run. */
export interface ModelCalls {
  made: number;
  failed: number;
}

/** Makes a tool kill its process, or block its process for `ms` milliseconds before it returns. */
export type Order = { readonly order: "kill" } | { readonly order: "hang"; readonly ms: number };

/** Blocks arriving requests until it is released. */
export interface RequestGate {
  /**
   * Resolves when the first request has arrived: with the effect if it is a tool call, otherwise
   * with undefined.
   */
  readonly reached: Promise<Effect | undefined>;
  /** Releases the first request and keeps blocking the others. */
  releaseFirst(): void;
  /** Releases all requests, present and future. */
  release(): void;
}

/** Usage that the model reported with one answer. No two answers report the same usage. */
export interface ReportedUsage {
  readonly input: number;
  readonly output: number;
}

/**
 * The world outside Beckon: a model server that counts its calls, and a service that tools call.
 * What the service does cannot be undone. Both servers run in the test process, so that their
 * records are not lost when servers of Beckon are killed.
 */
export interface World {
  readonly model: ModelServer;
  /** Usage of each answer, by the nonce of its run. */
  readonly reported: ReadonlyMap<string, readonly ReportedUsage[]>;
  readonly effectsUrl: string;
  readonly effects: readonly Effect[];
  readonly modelCalls: ReadonlyMap<string, ModelCalls>;
  /**
   * Blocks the model call that comes after the run's first `call` answers, and repetitions of this
   * model call. Default: 0, the run's first model call.
   */
  holdModel(nonce: string, call?: number): RequestGate;
  /** Executes the run's effects, but blocks their responses. */
  holdEffects(nonce: string): RequestGate;
  /**
   * Responds to each tool call of the run with the order that `next` returns; if it returns
   * undefined, the call is answered as usual.
   */
  order(nonce: string, next: (effect: Effect) => Order | undefined): void;
  close(): Promise<void>;
}

/** Returns the output that a run has if it was executed as planned. */
export const answerOf = (nonce: string) => `done ${nonce}`;

interface HeldGate extends RequestGate {
  arrive(effect?: Effect): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const model = await startModelServer();
  const modelCalls = new Map<string, ModelCalls>();
  const reported = new Map<string, ReportedUsage[]>();
  let answers = 0;
  const effects: Effect[] = [];
  const gates = new Map<string, HeldGate>();
  const orders = new Map<string, (effect: Effect) => Order | undefined>();

  model.script(async (request, index) => {
    const { messages } = request.body;
    const plan = JSON.parse(messages.find(({ role }) => role === "user")?.content ?? "{}") as Plan;
    const calls = modelCalls.get(plan.nonce) ?? { made: 0, failed: 0 };
    modelCalls.set(plan.nonce, calls);
    const failing = calls.made < plan.failures;
    calls.made += 1;
    if (failing) calls.failed += 1;
    const step = messages.filter(({ role }) => role === "assistant").length;
    await delay(plan.thinkMs);
    await gates.get(`model ${plan.nonce} ${step}`)?.arrive();
    if (failing) return status(503)(request, index);
    answers += 1;
    const usage = { input: 1_000 + answers, output: 1 + (answers % 50) };
    reported.set(plan.nonce, [...(reported.get(plan.nonce) ?? []), usage]);
    return behaviourAt(plan, step, usage)(request, index);
  });

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { nonce, call, thinkMs } = JSON.parse(Buffer.concat(chunks).toString());
      const effect: Effect = {
        tool: incoming.url?.slice(1) ?? "",
        nonce,
        call,
        key: String(incoming.headers["idempotency-key"]),
        pid: Number(incoming.headers["x-pid"]),
      };
      effects.push(effect);
      await delay(thinkMs);
      await gates.get(`effect ${nonce}`)?.arrive(effect);
      outgoing.end(JSON.stringify(orders.get(nonce)?.(effect) ?? { order: "answer" }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  function hold(name: string): RequestGate {
    const reached = Promise.withResolvers<Effect | undefined>();
    const first = Promise.withResolvers<void>();
    const all = Promise.withResolvers<void>();
    let arrived = 0;
    const gate: HeldGate = {
      reached: reached.promise,
      arrive: (effect) => {
        reached.resolve(effect);
        arrived += 1;
        return arrived === 1 ? Promise.race([first.promise, all.promise]) : all.promise;
      },
      releaseFirst: first.resolve,
      release: () => {
        gates.delete(name);
        all.resolve();
      },
    };
    gates.set(name, gate);
    return gate;
  }

  return {
    model,
    effectsUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    modelCalls,
    reported,
    holdModel: (nonce, call = 0) => hold(`model ${nonce} ${call}`),
    holdEffects: (nonce) => hold(`effect ${nonce}`),
    order: (nonce, next) => void orders.set(nonce, next),
    async close() {
      for (const gate of [...gates.values()]) gate.release();
      server.closeAllConnections();
      await Promise.all([model.close(), new Promise((resolve) => server.close(resolve))]);
    },
  };
}

/** Returns the model's behaviour for a conversation with `step` earlier answers. */
function behaviourAt(
  { nonce, steps, thinkMs }: Plan,
  step: number,
  { input, output }: ReportedUsage,
): Behaviour {
  const usage = { prompt_tokens: input, completion_tokens: output };
  const planned = steps[step];
  if (planned === undefined) return says({ text: answerOf(nonce), usage });
  const names = planned === "both" ? ["safe_effect", "unsafe_effect"] : [`${planned}_effect`];
  const calls = names.map((name, index) => {
    const call = 2 * step + index;
    return { id: `call_${call}`, name, arguments: JSON.stringify({ nonce, call, thinkMs }) };
  });
  return says({ calls, usage });
}
