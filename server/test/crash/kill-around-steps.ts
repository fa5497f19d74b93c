import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Database } from "../../src/base/database/index.ts";
import { eventually } from "../eventually.ts";
import { rollUpAll } from "../ledger.ts";
import { wrongWithBudgets } from "../limits.ts";
import { openCaller } from "./calls.ts";
import { checkUsage } from "./check-usage.ts";
import { type Installation, install, leaseSeconds, planned } from "./installation.ts";
import { awaitEnds, ownerOf } from "./journal.ts";
import { seeded } from "./random.ts";
import { openWorld } from "./world.ts";

/**
 * Runs whose model calls are answered together before each kill, so that one write stores the steps
 * of several runs.
 */
export const runsPerKill = 6;
/**
 * Maximum time from the model's answers to the kill. It is short so that many kills interrupt the
 * write of the steps, which takes a few milliseconds.
 */
const maxDelayMs = 12;
/**
 * Maximum time until amounts that killed processes had reserved are returned. Workers return
 * such amounts every 20 seconds, so a lease and a minute is enough for several tries.
 */
const maxReturnMs = (leaseSeconds + 60) * 1_000;

/** The violations that a test found, and figures for the line that the test prints. */
export interface KillReport {
  /** One line for each violation. */
  readonly broken: readonly string[];
  readonly answered: number;
  readonly failed: number;
  readonly lost: number;
  /** Micro-dollars that runs had reserved when their processes were killed, over all kills. */
  readonly reservedAtKills: number;
}

/**
 * Kills server processes around the write of a step. The first half of the kills happens without
 * limits, the second half with a ceiling of the workspace.
 */
export async function killAroundSteps({
  seed,
  kills,
  databaseUrl,
  database,
  log = () => {},
}: {
  readonly seed: number;
  readonly kills: number;
  readonly databaseUrl: string;
  readonly database: Database;
  readonly log?: (line: string) => void;
}): Promise<KillReport> {
  const pool = database.engine;
  const world = await openWorld();
  const random = seeded(seed);
  const installation = await install(world, databaseUrl, 2);
  try {
    const { fleet } = installation;
    await send(installation, "POST", "/prices", {
      model: "world/scripted",
      input_micros_per_million: 1_000_000,
      output_micros_per_million: 7_000_000,
    });
    const caller = openCaller(installation, seeded(random.below(2 ** 31)));
    let reservedAtKills = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill === Math.floor(kills / 2)) await setCeiling(installation, pool);
      const at = random.below(fleet.servers.length);
      const step = random.below(2);
      const plans = Array.from({ length: runsPerKill }, () =>
        planned({ steps: random.pick([["safe"], ["safe", "unsafe"]]) }),
      );
      const gates = plans.map(({ nonce }) => world.holdModel(nonce, step));
      const sent = plans.map((plan) => caller.send({ plan, source: "fire", keyed: true }, { at }));
      await Promise.all(gates.map((gate) => gate.reached));
      reservedAtKills += await sumReserved(pool);
      const [first] = plans;
      const owner = first === undefined ? undefined : await ownerOf(pool, first);
      const slot = Math.max(0, fleet.slotOf(owner ?? ""));
      for (const gate of gates) gate.release();
      await delay(random.next() * maxDelayMs);
      const { restarted } = await fleet.kill(slot, { notify: true });
      await restarted;
      await Promise.all(sent);
      if ((kill + 1) % 50 === 0) log(`${kill + 1} kills`);
    }
    const open = await awaitEnds(pool, 120_000);
    const kept = await awaitReturn(pool);
    await rollUpAll(database);
    const { broken, ...figures } = await checkUsage(pool, world);
    return {
      ...figures,
      reservedAtKills,
      broken: [
        ...(open > 0 ? [`${open} runs have not ended`] : []),
        ...(kept ? ["what the killed processes had reserved was not returned"] : []),
        ...broken,
        ...(await wrongWithBudgets(pool)),
        ...fleet.errors,
      ],
    };
  } finally {
    await installation.close();
    await world.close();
  }
}

/** Sets a ceiling that the runs do not reach. */
async function setCeiling(installation: Installation, pool: Pick<Pool, "query">): Promise<void> {
  const { rows } = await pool.query<{ id: string }>("select id from workspaces");
  const [workspace] = rows;
  await send(installation, "PUT", `/limits/workspace/${workspace?.id}`, {
    limit_micros: 1_000_000_000_000,
  });
}

async function send(
  { fleet, key }: Installation,
  method: string,
  path: string,
  body: object,
): Promise<void> {
  const response = await fetch(`${fleet.servers.find(({ up }) => up)?.url}/api/public${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
}

async function sumReserved(pool: Pick<Pool, "query">): Promise<number> {
  const { rows } = await pool.query<{ sum: string }>("select sum(reserved) as sum from budgets");
  return Number(rows[0]?.sum);
}

/** Returns whether an amount is still reserved after `maxReturnMs`. */
async function awaitReturn(pool: Pick<Pool, "query">): Promise<boolean> {
  return eventually(
    "the return of all reservations",
    async () => {
      const { rows } = await pool.query<{ left: number }>(
        `select (select count(*) from reservations)::int
          + (select count(*) from budgets where reserved > 0)::int as left`,
      );
      return rows[0]?.left === 0 || undefined;
    },
    maxReturnMs,
  ).then(
    () => false,
    () => true,
  );
}
