import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Caller } from "./calls.ts";
import { type Installation, leaseSeconds, planned } from "./installation.ts";
import { ownerOf } from "./journal.ts";
import type { Random } from "./random.ts";
import type { Plan, World } from "./world.ts";

/** What is done to the fleet, in words for the report. All but `stopped` and `database` kill with -9, `all at once` every server. */
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
  /** kill -9 of PostgreSQL; resolves when it answers again. */
  readonly killDatabase?: (() => Promise<void>) | undefined;
}

/** Callers at once at one server, when it is to be killed between a commit and its answers: gathered, they commit together. */
const burst = 20;

/** Makes one fault come about and waits until all servers are up again. @returns how many processes it killed. */
export async function inflict(fault: Fault, chaos: Chaos): Promise<number> {
  const { world, installation, caller, random, pool } = chaos;
  const { fleet } = installation;
  const somewhere = () => random.below(fleet.servers.length);
  const kill = async (place: number) => {
    await (await fleet.kill(place, { told: random.chance(0.5) })).restarted;
    return 1;
  };
  const send = (plan: Plan) =>
    caller.send({
      plan,
      door: random.pick(["invoke", "fire", "async"]),
      keyed: random.chance(0.7),
    });

  switch (fault) {
    case "at a random moment":
      return kill(somewhere());
    case "while the model was held": {
      const plan = planned({ steps: random.pick([[], ["safe"], ["unsafe"]]) });
      const gate = world.holdModel(plan.nonce, random.below(plan.steps.length + 1));
      const sent = send(plan);
      await soon(gate.reached);
      const killed = await kill(placeOf(chaos, await ownerOf(pool, plan)));
      gate.release();
      await sent;
      return killed;
    }
    case "with an effect done and unreported": {
      const plan = planned({ steps: [random.pick(["safe", "unsafe", "both"])] });
      const gate = world.holdEffects(plan.nonce);
      const sent = send(plan);
      const effect = await soon(gate.reached);
      const killed = await kill(placeOf(chaos, effect?.pid));
      gate.release();
      await sent;
      return killed;
    }
    case "between start and answer":
    case "between end and answer": {
      const door = fault === "between start and answer" ? "fire" : "invoke";
      const at = somewhere();
      const first = Promise.withResolvers<void>();
      const sent = Array.from({ length: burst }, () => {
        const plan = planned({ thinkMs: 30 });
        return caller.send({ plan, door, keyed: true }, { at, onAnswer: first.resolve });
      });
      await Promise.race([first.promise, Promise.all(sent)]);
      const killed = await kill(at);
      await Promise.all(sent);
      return killed;
    }
    case "right after an acknowledgement": {
      const at = somewhere();
      await caller.send({ plan: planned({ steps: ["safe"] }), door: "fire", keyed: false }, { at });
      return kill(at);
    }
    case "all at once": {
      const killed = await Promise.all(
        fleet.servers.map((_, place) => fleet.kill(place, { told: false })),
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

/** Stops a run's owner for twice its lease and at least until another has the run; when it goes on, it gets the answer it had waited for. */
async function stop(chaos: Chaos): Promise<void> {
  const {
    world,
    installation: { fleet },
    caller,
    pool,
  } = chaos;
  const plan = planned({ steps: ["unsafe"] });
  const gate = world.holdModel(plan.nonce);
  const sent = caller.send({ plan, door: "fire", keyed: true });
  await soon(gate.reached);
  const owner = await ownerOf(pool, plan);
  const place = placeOf(chaos, owner);
  fleet.stop(place);
  await delay(2 * leaseSeconds * 1_000);
  for (
    const deadline = performance.now() + 20_000;
    performance.now() < deadline && (await ownerOf(pool, plan)) === owner;
  )
    await delay(50);
  fleet.resume(place);
  // The answer reaches the one that was stopped, and works there, before its successor gets its own.
  gate.releaseFirst();
  await caller.send({ plan: planned(), door: "invoke", keyed: true }, { at: place });
  gate.release();
  await sent;
}

/** Where the process executes; anywhere, if the fleet cannot tell: it was killed meanwhile, or several go on under new ids since they were declared dead. */
function placeOf(
  { installation: { fleet }, random }: Chaos,
  process: string | number | undefined,
): number {
  const known = fleet.placeOf(process ?? "");
  return known >= 0 ? known : random.below(fleet.servers.length);
}

/** Milliseconds for a run to come to the point where it is waited for, through take-overs if need be. */
const patience = 60_000;

async function soon<T>(reached: Promise<T>): Promise<T> {
  const giveUp = new AbortController();
  const late = delay(patience, undefined, { signal: giveUp.signal }).then(() => {
    throw new Error(`a run did not come to where it was waited for in ${patience / 1_000} s`);
  });
  late.catch(() => {});
  return Promise.race([reached, late]).finally(() => giveUp.abort());
}
