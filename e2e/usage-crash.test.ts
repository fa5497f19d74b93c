import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { openCaller } from "../server/test/crash/calls.ts";
import { checkUsage } from "../server/test/crash/check-usage.ts";
import { install, planned } from "../server/test/crash/installation.ts";
import { awaitEnds, ownerOf } from "../server/test/crash/journal.ts";
import { seeded } from "../server/test/crash/random.ts";
import { openWorld } from "../server/test/crash/world.ts";
import { testDatabase } from "../server/test/database.ts";
import { rollUpAll } from "../server/test/ledger.ts";

const { url, database } = await testDatabase();
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`CRASH_SEED=${seed}`);

/** Kills of a server process, each around the write of a step. */
const kills = 30;
/** Runs whose answers arrive together before each kill, so that they share a write. */
const runsPerKill = 6;
/** Maximum time from the answer to the kill. A write takes a few milliseconds. */
const maxDelayMs = 12;

it("bills no answer twice, and estimates those that were cut off, when processes are killed around the write of a step", async () => {
  const world = await openWorld();
  const random = seeded(seed);
  const installation = await install(world, url, 2);
  try {
    const { fleet } = installation;
    const caller = openCaller(installation, seeded(random.below(2 ** 31)));
    for (let kill = 0; kill < kills; kill += 1) {
      const at = random.below(fleet.servers.length);
      const step = random.below(2);
      const plans = Array.from({ length: runsPerKill }, () =>
        planned({ steps: random.pick([["safe"], ["safe", "unsafe"]]) }),
      );
      const gates = plans.map(({ nonce }) => world.holdModel(nonce, step));
      const sent = plans.map((plan) => caller.send({ plan, source: "fire", keyed: true }, { at }));
      await Promise.all(gates.map((gate) => gate.reached));
      const [first] = plans;
      const owner = first === undefined ? undefined : await ownerOf(database.engine, first);
      const slot = Math.max(0, fleet.slotOf(owner ?? ""));
      for (const gate of gates) gate.release();
      await delay(random.next() * maxDelayMs);
      const { restarted } = await fleet.kill(slot, { notify: true });
      await restarted;
      await Promise.all(sent);
    }
    expect(await awaitEnds(database.engine, 120_000)).toBe(0);
    await rollUpAll(database);
    const { broken, answered, failed, lost } = await checkUsage(database.engine, world);
    console.log(`${kills} kills: ${answered} calls answered, ${failed} failed, ${lost} lost`);
    expect(broken.slice(0, 20)).toEqual([]);
    expect(answered).toBeGreaterThanOrEqual(2 * kills * runsPerKill);
    // The kills had an effect.
    expect(lost).toBeGreaterThan(0);
  } finally {
    await installation.close();
    await world.close();
  }
}, 300_000);
