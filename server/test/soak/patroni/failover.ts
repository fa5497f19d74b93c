import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, launch, ready, stopProducts } from "../../../../e2e/product.ts";
import { elapsed } from "../../../src/base/clock.ts";
import { eventually } from "../../eventually.ts";
import { openClient } from "../../open-client.ts";
import { type Cluster, patroniSeconds, secondsSince, startCluster } from "./cluster.ts";

/**
 * Kills the primary of a PostgreSQL cluster under load. Beckon reaches the primary through HAProxy.
 * No acknowledged run may be lost, and Beckon must accept runs again at most `maxAfterSeconds`
 * after Patroni has promoted a standby. Run by script/soak.
 */

/** Maximum seconds from when Patroni reports a new primary until Beckon accepts a run. */
const maxAfterSeconds = 5;
const callers = 16;
const processes = 2;

/** What the callers have got from Beckon so far. */
interface Load {
  readonly acknowledged: string[];
  /** Responses by status; `none` for requests without a response. */
  readonly statuses: Map<string, number>;
  /**
   * Returns the time at which the last run was accepted; undefined if none was accepted after
   * `since`. Both are values of `elapsed()`.
   */
  acceptedSince(since: number): number | undefined;
  stop(): Promise<void>;
}

/**
 * Kills the primary `failovers` times. Returns false if a guarantee was broken.
 *
 * @param log receives a line of figures for each failover and for the whole test, and each problem.
 */
export async function failOver(log: (line: string) => void, failovers: number): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "beckon-patroni-"));
  // The user `postgres` must be able to enter the folder.
  chmodSync(folder, 0o755);
  let cluster: Cluster | undefined;
  try {
    const password = randomBytes(16).toString("hex");
    cluster = await startCluster({ folder, freePort, password });
    return await failOverUnderLoad(cluster, { folder, failovers, log, password });
  } finally {
    await stopProducts();
    await cluster?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function failOverUnderLoad(
  cluster: Cluster,
  {
    folder,
    failovers,
    log,
    password,
  }: { folder: string; failovers: number; log: (line: string) => void; password: string },
): Promise<boolean> {
  const admin = await openClient(cluster.adminUrl);
  await admin.query(`create role beckon login password '${password}'`);
  await admin.query("create database beckon owner beckon encoding 'UTF8' template template0");
  await admin.end();
  const databaseUrl = `postgresql://beckon:${password}@${cluster.host}/beckon`;

  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const beckon = launch({
    DATABASE_URL: databaseUrl,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_DATA_DIR: join(folder, "beckon"),
    BECKON_PROCESSES: String(processes),
    PORT: String(await freePort()),
  });
  await ready(beckon, 120);
  const load = startLoad(beckon.url, beckon.demo());
  const broken: string[] = [];
  for (let count = 1; count <= failovers; count++) {
    const before = elapsed();
    await eventually("runs before the failover", () => load.acceptedSince(before), 60_000);
    const killed = await cluster.primary();
    if (killed === undefined) throw new Error("there is no primary");
    const killedAt = elapsed();
    cluster.kill(killed);
    const promoted = await eventually("a new primary", () => cluster.primary(), 120_000);
    const patroni = secondsSince(killedAt);
    const promotedAt = elapsed();
    const acceptedAt = await eventually(
      "an accepted run",
      () => load.acceptedSince(promotedAt),
      120_000,
    );
    const after = Math.round((acceptedAt - promotedAt) / 100) / 10;
    log(
      `failover ${count}: ${killed} → ${promoted}, Patroni ${patroni} s, ` +
        `Beckon accepts runs ${after} s after that`,
    );
    if (after > maxAfterSeconds) broken.push(`failover ${count}: ${after} s after Patroni`);
    await cluster.restart(killed);
  }
  await load.stop();

  // Connects as a superuser. With Beckon's role, row-level security would hide all rows from a
  // connection that is not one of Beckon's pools.
  const database = await openClient(cluster.adminUrl.replace(/postgres$/, "beckon"));
  const { rows } = await database.query<{ id: string }>("select id from runs");
  const stored = new Set(rows.map((run) => run.id));
  const lost = load.acknowledged.filter((id) => !stored.has(id));
  for (const id of lost.slice(0, 20)) broken.push(`run ${id} was acknowledged and is not stored`);
  const unfinished = await eventually(
    "the end of all runs",
    async () => {
      const left = await database.query("select from runs where finished_at is null limit 1");
      return left.rows.length === 0 ? [] : undefined;
    },
    180_000,
  ).catch((thrown: Error) => [thrown.message]);
  broken.push(...unfinished);
  const { rows: ends } = await database.query<{ status: string; runs: number }>(
    "select status, count(*)::int as runs from runs group by status order by status",
  );
  const { rows: twice } = await database.query(
    `select run_id from events where type in ('run.finished', 'run.failed', 'run.cancelled')
      group by run_id having count(*) > 1`,
  );
  if (twice.length > 0) broken.push(`${twice.length} runs ended twice`);
  await database.end();
  const wrong = [...load.statuses.keys()].filter(
    (status) => !["200", "202", "503"].includes(status),
  );
  if (wrong.length > 0) broken.push(`responses ${wrong.join(", ")}`);
  for (const line of broken.slice(0, 20)) log(`✗ failover: ${line}`);
  const statuses = [...load.statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
  log(
    `soak: failover, ${failovers} kills of the primary (ttl ${patroniSeconds.ttl} s): ` +
      `${load.acknowledged.length} acknowledged runs, ${lost.length} lost; responses ${statuses}; ` +
      `runs ${ends.map(({ status, runs }) => `${status}: ${runs}`).join(", ")}; ` +
      `${broken.length} promises broken`,
  );
  return broken.length === 0;
}

interface Demo {
  readonly id: string;
  readonly token: string;
  readonly triggerUrl: string;
}

/** Returns a request that starts a run of the demo agent; half of the callers use its trigger. */
function requestOf(url: string, demo: Demo, caller: number) {
  const input = `Hello ${randomUUID()}`;
  if (caller % 2 === 1)
    return { target: demo.triggerUrl, headers: { "content-type": "text/plain" }, body: input };
  return {
    target: `${url}/api/public/agents/${demo.id}/invoke`,
    headers: {
      "x-api-key": demo.token,
      "content-type": "application/json",
      // Half of the invokes wait for their run.
      ...(caller % 4 === 0 ? { prefer: "respond-async" } : {}),
    },
    body: JSON.stringify({ input }),
  };
}

/** Invokes and fires the demo agent until `stop` is called. */
function startLoad(url: string, demo: Demo): Load {
  const acknowledged: string[] = [];
  const statuses = new Map<string, number>();
  let acceptedAt: number | undefined;
  let isOver = false;
  const call = async (caller: number) => {
    while (!isOver) {
      const { target, headers, body } = requestOf(url, demo, caller);
      const response = await fetch(target, { method: "POST", headers, body }).catch(
        () => undefined,
      );
      const answer = (await response?.json().catch(() => undefined)) as
        | { run_id?: string }
        | undefined;
      const status = String(response?.status ?? "none");
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (response?.ok && answer?.run_id !== undefined) {
        acknowledged.push(answer.run_id);
        acceptedAt = elapsed();
      }
      // Without a pause, the callers would send requests in a busy loop while there is no database.
      await delay(response?.ok ? 20 : 100);
    }
  };
  const calling = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  return {
    acknowledged,
    statuses,
    acceptedSince: (since) =>
      acceptedAt !== undefined && acceptedAt > since ? acceptedAt : undefined,
    async stop() {
      isOver = true;
      await calling;
    },
  };
}
