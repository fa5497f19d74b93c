import { afterAll, afterEach, expect, it } from "vitest";
import { openCaller } from "../server/test/crash/calls.ts";
import { install, maxAttempts, planned } from "../server/test/crash/installation.ts";
import { awaitEnds, readRuns } from "../server/test/crash/journal.ts";
import { seeded } from "../server/test/crash/random.ts";
import { openWorld, type Plan } from "../server/test/crash/world.ts";
import { testDatabase } from "../server/test/database.ts";
import { eventually } from "../server/test/eventually.ts";

/** One real process on its own: all runs are in flight in it when it is killed. */
const { url, database } = await testDatabase();
const pool = database.engine;
const world = await openWorld();
const installation = await install(world, url, 1, { timeout_seconds: 30 });
const { fleet } = installation;
const caller = openCaller(installation, seeded(1));
afterAll(async () => {
  await installation.close();
  await world.close();
});

afterEach(() => expect(fleet.errors).toEqual([]));

const patience = 120_000;

const runsOf = async (plans: readonly Plan[]) => {
  const payloads = plans.map((plan) => JSON.stringify(plan));
  return (await readRuns(pool)).filter(({ payload }) => payloads.includes(payload));
};
const fire = (plans: readonly Plan[]) => Promise.all(plans.map((plan) => caller.send({ plan, door: "fire", keyed: true })));

/** Calls of the unsafe tool that were made more than once. */
function repeatedUnsafe(): string[] {
  const calls = world.effects.filter(({ tool }) => tool === "unsafe_effect").map(({ nonce, call }) => `${nonce} ${call}`);
  return calls.filter((call, index) => calls.indexOf(call) !== index);
}

/** The run's attempt, as the API shows it. */
async function shownAttempt(runId: string): Promise<number> {
  const headers = { "x-api-key": installation.agent.token };
  const response = await fetch(`${fleet.servers[0]?.url}/api/public/runs/${runId}`, { headers });
  const { data } = (await response.json()) as { data: { attempt: number } };
  return data.attempt;
}

it(
  "lets 40 runs that lose their process twice succeed within their time limits",
  async () => {
    const plans = Array.from({ length: 40 }, (_, index) => planned({ steps: index % 4 === 0 ? ["unsafe"] : [], thinkMs: 2_000 }));
    const [call] = await fire(plans);
    const runId = call?.acknowledged[0]?.runId ?? "";
    for (const attempt of [1, 2]) {
      await eventually(
        `attempt ${attempt} of all runs`,
        async () => (await runsOf(plans)).every((run) => run.status !== "queued" && run.attempt === attempt) || undefined,
        patience,
      );
      expect(await shownAttempt(runId)).toBe(attempt);
      const { restarted } = await fleet.kill(0, { told: true });
      await restarted;
    }
    expect(await awaitEnds(pool, patience)).toBe(0);

    const runs = await runsOf(plans);
    expect(runs.map(({ status, error_code, attempt }) => ({ status, error_code, attempt }))).toEqual(
      plans.map(() => ({ status: "succeeded", error_code: null, attempt: maxAttempts })),
    );
    expect(await shownAttempt(runId)).toBe(maxAttempts);
    expect(repeatedUnsafe()).toEqual([]);
  },
  2 * patience,
);

it(
  "ends the one run that kills its process each time, and lets the 20 that share it succeed",
  async () => {
    const killer = planned({ steps: ["safe"], thinkMs: 300 });
    world.order(killer.nonce, () => ({ order: "kill" }));
    const healthy = Array.from({ length: 20 }, () => planned({ steps: ["unsafe", "safe"], thinkMs: 300 }));
    await fire([...healthy.slice(0, 10), killer, ...healthy.slice(10)]);
    expect(await awaitEnds(pool, patience)).toBe(0);

    expect(await runsOf([killer])).toMatchObject([{ status: "failed", error_code: "interrupted", attempt: maxAttempts }]);
    expect((await runsOf(healthy)).map(({ status }) => status)).toEqual(healthy.map(() => "succeeded"));
    expect(repeatedUnsafe()).toEqual([]);
    const deaths = new Set(world.effects.filter(({ nonce }) => nonce === killer.nonce).map(({ pid }) => pid)).size;
    console.log(`${deaths} processes died of one run beside ${healthy.length}`);
    expect(deaths).toBeLessThanOrEqual(maxAttempts - 1 + Math.ceil(Math.log2(healthy.length + 1)) + 1);
  },
  2 * patience,
);
