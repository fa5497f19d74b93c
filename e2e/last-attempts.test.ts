import { afterAll, expect, it } from "vitest";
import { openCaller } from "../server/test/crash/calls.ts";
import { isWithdrawn } from "../server/test/crash/check-guarantees.ts";
import { install, maxAttempts, planned } from "../server/test/crash/installation.ts";
import { awaitEnds, readRuns } from "../server/test/crash/journal.ts";
import { seeded } from "../server/test/crash/random.ts";
import { openWorld } from "../server/test/crash/world.ts";
import { testDatabase } from "../server/test/database.ts";
import { eventually } from "../server/test/eventually.ts";

/** A single server process executes all runs, so that each kill affects all of them. */
const { url, database } = await testDatabase();
const pool = database.engine;
const world = await openWorld();
const installation = await install(world, url, 1, { timeout_seconds: 90 });
const { fleet } = installation;
const caller = openCaller(installation, seeded(1));
afterAll(async () => {
  await installation.close();
  await world.close();
});

const maxWaitMs = 120_000;

/**
 * All runs, except those that the server cancelled because their caller got a 503 although the run
 * was written.
 */
const allRuns = async () => (await readRuns(pool)).filter((run) => !isWithdrawn(run));

/** Returns the run's attempt from the API. */
async function shownAttempt(runId: string): Promise<number> {
  const headers = { "x-api-key": installation.agent.token };
  const response = await fetch(`${fleet.servers[0]?.url}/api/public/runs/${runId}`, { headers });
  const { data } = (await response.json()) as { data: { attempt: number } };
  return data.attempt;
}

it(
  "lets 40 runs that lose their process twice succeed within their time limits",
  async () => {
    // Each run takes at least 3 seconds. If the runs were executed one after the other, the last
    // ones would exceed their time limit of 90 seconds.
    const plans = Array.from({ length: 40 }, (_, index) =>
      planned({ steps: index % 4 === 0 ? ["unsafe"] : [], thinkMs: 3_000 }),
    );
    // The model is held, so that no run finishes before both kills.
    const gates = plans.map(({ nonce }) => world.holdModel(nonce));
    const [call] = await Promise.all(
      plans.map((plan) => caller.send({ plan, source: "fire", keyed: true })),
    );
    const runId = call?.acknowledged[0]?.runId ?? "";
    for (const attempt of [1, 2]) {
      await eventually(
        `attempt ${attempt} of all runs`,
        async () =>
          (await allRuns()).every((run) => run.status !== "queued" && run.attempt === attempt) ||
          undefined,
        maxWaitMs,
      );
      expect(await shownAttempt(runId)).toBe(attempt);
      const { restarted } = await fleet.kill(0, { notify: true });
      await restarted;
    }
    for (const gate of gates) gate.release();
    expect(await awaitEnds(pool, maxWaitMs)).toBe(0);

    const runs = await allRuns();
    expect(
      runs.map(({ status, error_code, attempt }) => ({ status, error_code, attempt })),
    ).toEqual(plans.map(() => ({ status: "succeeded", error_code: null, attempt: maxAttempts })));
    expect(await shownAttempt(runId)).toBe(maxAttempts);
    const unsafe = world.effects
      .filter(({ tool }) => tool === "unsafe_effect")
      .map(({ nonce }) => nonce);
    expect(new Set(unsafe).size).toBe(unsafe.length);
    expect(fleet.errors).toEqual([]);
  },
  2 * maxWaitMs,
);
