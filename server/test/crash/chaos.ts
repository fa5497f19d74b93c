import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Caller } from "./calls.ts";
import { type Installation, leaseSeconds, planned } from "./installation.ts";
import { ownerOf } from "./journal.ts";
import type { Random } from "./random.ts";
import type { Plan, World } from "./world.ts";

/**
 * Faults that are injected, by their names in the report. `stopped` stops a server with SIGSTOP for
 * a while, `database` kills PostgreSQL, and `all at once` kills every server. The other faults kill
 * one server. Processes are killed with SIGKILL.
 */
export const faults = [
  "at a random moment",
  "while the model was held",
  "with an effect done and unreported",
  "between start and answer",
  "between end and answer",
  "right after an acknowledgement",
  "all at once",
  "stopped",
  "database",
] as const;
export type Fault = (typeof faults)[number];

export interface Chaos {
  readonly world: World;
  readonly installation: Installation;
  readonly caller: Caller;
  readonly random: Random;
  readonly pool: Pick<Pool, "query">;
  /**
   * Kills PostgreSQL with SIGKILL; resolves when it accepts queries again. Undefined: PostgreSQL is
   * not killed.
   */
  readonly killDatabase?: (() => Promise<void>) | undefined;
}

/**
 * Number of concurrent callers of a server that is killed between a commit and the responses.
 * Requests of concurrent callers share a commit, so one kill can lose the responses to many.
 */
const concurrentCallers = 20;

/**
 * Injects one fault and waits until all servers are ready again. Returns the number of killed
 * server processes.
 */
export async function injectFault(fault: Fault, chaos: Chaos): Promise<number> {
  const { world, installation, caller, random, pool } = chaos;
  const { fleet } = installation;
  const somewhere = () => random.below(fleet.servers.length);
  const kill = async (slot: number) => {
    await (await fleet.kill(slot, { notify: random.chance(0.5) })).restarted;
    return 1;
  };
  const send = (plan: Plan) =>
    caller.send({
      plan,
      source: random.pick(["invoke", "fire", "async"]),
      keyed: random.chance(0.7),
    });

  switch (fault) {
    case "at a random moment":
      return kill(somewhere());
    case "while the model was held": {
      const plan = planned({ steps: random.pick([[], ["safe"], ["unsafe"]]) });
      const gate = world.holdModel(plan.nonce, random.below(plan.steps.length + 1));
      const sent = send(plan);
      await withTimeout(gate.reached);
      const killed = await kill(slotOf(chaos, await ownerOf(pool, plan)));
      gate.release();
      await sent;
      return killed;
    }
    case "with an effect done and unreported": {
      const plan = planned({ steps: [random.pick(["safe", "unsafe", "both"])] });
      const gate = world.holdEffects(plan.nonce);
      const sent = send(plan);
      const effect = await withTimeout(gate.reached);
      const killed = await kill(slotOf(chaos, effect?.pid));
      gate.release();
      await sent;
      return killed;
    }
    case "between start and answer":
    case "between end and answer": {
      const source = fault === "between start and answer" ? "fire" : "invoke";
      const at = somewhere();
      const first = Promise.withResolvers<void>();
      const sent = Array.from({ length: concurrentCallers }, () => {
        const plan = planned({ thinkMs: 30 });
        return caller.send({ plan, source, keyed: true }, { at, onAnswer: first.resolve });
      });
      await Promise.race([first.promise, Promise.all(sent)]);
      const killed = await kill(at);
      await Promise.all(sent);
      return killed;
    }
    case "right after an acknowledgement": {
      const at = somewhere();
      await caller.send(
        { plan: planned({ steps: ["safe"] }), source: "fire", keyed: false },
        { at },
      );
      return kill(at);
    }
    case "all at once": {
      const killed = await Promise.all(
        fleet.servers.map((_, place) => fleet.kill(place, { notify: false })),
      );
      await Promise.all(killed.map(({ restarted }) => restarted));
      return killed.length;
    }
    case "stopped":
      await stop(chaos);
      return 0;
    case "database":
      await chaos.killDatabase?.();
      return 0;
  }
}

/**
 * Sends SIGSTOP to the process that owns a run while it waits for the model's answer. Waits for
 * twice the lease, and until another process owns the run. Then sends SIGCONT, after which the
 * stopped process receives the answer.
 */
async function stop(chaos: Chaos): Promise<void> {
  const {
    world,
    installation: { fleet },
    caller,
    pool,
  } = chaos;
  const plan = planned({ steps: ["unsafe"] });
  const gate = world.holdModel(plan.nonce);
  const sent = caller.send({ plan, source: "fire", keyed: true });
  await withTimeout(gate.reached);
  const owner = await ownerOf(pool, plan);
  const slot = slotOf(chaos, owner);
  fleet.stop(slot);
  await delay(2 * leaseSeconds * 1_000);
  for (
    const deadline = performance.now() + 20_000;
    performance.now() < deadline && (await ownerOf(pool, plan)) === owner;
  )
    await delay(50);
  fleet.resume(slot);
  // The process that was stopped gets the model's response before the new owner gets one. It must
  // not write this response to the run, which it no longer owns.
  gate.releaseFirst();
  await caller.send({ plan: planned(), source: "invoke", keyed: true }, { at: slot });
  gate.release();
  await sent;
}

/**
 * Returns the slot of a process. Returns a random slot if the process is unknown, because it was
 * killed in the meantime, or got a new id after it had been declared dead.
 */
function slotOf(
  { installation: { fleet }, random }: Chaos,
  process: string | number | undefined,
): number {
  const known = fleet.slotOf(process ?? "");
  return known >= 0 ? known : random.below(fleet.servers.length);
}

/** Maximum wait for a run to reach the held model or effect, failovers included. */
const maxWaitMs = 60_000;

async function withTimeout<T>(reached: Promise<T>): Promise<T> {
  const giveUp = new AbortController();
  const late = delay(maxWaitMs, undefined, { signal: giveUp.signal }).then(() => {
    throw new Error(`no run reached the gate within ${maxWaitMs / 1_000} s`);
  });
  late.catch(() => {});
  return Promise.race([reached, late]).finally(() => giveUp.abort());
}
