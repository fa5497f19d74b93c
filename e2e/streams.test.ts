import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { median } from "../server/test/busy-model.ts";
import { install, planned } from "../server/test/crash/installation.ts";
import { readRuns } from "../server/test/crash/journal.ts";
import { type Random, seeded } from "../server/test/crash/random.ts";
import { openWorld, type Plan } from "../server/test/crash/world.ts";
import { testDatabase } from "../server/test/database.ts";
import { eventually } from "../server/test/eventually.ts";
import { growJournal } from "../server/test/grow-journal.ts";
import { type Frame, openStream, type StreamReader } from "../server/test/read-stream.ts";

/**
 * Tests event streams of real processes. The streams are disconnected at random bytes, resumed at
 * other processes, and read slowly.
 */
const { url, database } = await testDatabase();
const pool = database.engine;
const world = await openWorld();
const installation = await install(world, url, 3);
const { fleet, agent } = installation;
afterAll(async () => {
  await installation.close();
  await world.close();
});

const seed = Number(process.env.FAST_CHECK_SEED ?? 1);

async function start(plan: Plan, server: number): Promise<string> {
  const response = await fetch(
    `${fleet.servers[server]?.url}/api/public/agents/${agent.id}/invoke`,
    {
      method: "POST",
      headers: { "x-api-key": agent.token, prefer: "respond-async" },
      body: JSON.stringify({ input: JSON.stringify(plan) }),
    },
  );
  return ((await response.json()) as { run_id: string }).run_id;
}

async function journalOf(runId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    "select id, run_id, seq, type, version, time, data from events where run_id = $1 order by seq",
    [runId],
  );
  return rows.map((row) => ({ ...row, time: row.time.toISOString() }));
}

interface ReadResult {
  /** The journal entries read over all connections. */
  readonly frames: readonly Frame[];
  readonly connections: number;
  readonly servers: ReadonlySet<number>;
  /** Number of connections that broke, without those that the reader itself reset. */
  readonly lost: number;
}

/** The number of open streams per server. */
const openAt = [0, 0, 0];

/**
 * Reads a run to its end. The reader resets its first four connections at a random byte. Each
 * connection goes to a random server.
 */
async function readInPieces(runId: string, random: Random): Promise<ReadResult> {
  const frames: Frame[] = [];
  const servers = new Set<number>();
  let lost = 0;
  for (let connection = 1; ; connection++) {
    const server = random.below(fleet.servers.length);
    const cutAfter = connection <= 4 ? 1 + random.below(3_000) : Number.POSITIVE_INFINITY;
    const lastEventId = frames.at(-1)?.id;
    const reader = await openStream(
      `${fleet.servers[server]?.url}/api/public/runs/${runId}/events`,
      {
        credential: agent.token,
        cutAfter,
        headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
      },
    ).catch(() => undefined);
    if (reader === undefined) {
      // The server was killed, and the process that replaces it is not ready yet.
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    servers.add(server);
    openAt[server] = (openAt[server] ?? 0) + 1;
    const how = await reader.over;
    openAt[server] -= 1;
    frames.push(...reader.frames.filter(({ id }) => id !== undefined));
    if (reader.status === 204 || frames.at(-1)?.event === "run.finished")
      return { frames, connections: connection, servers, lost };
    if (how === "cut" && reader.text.length < cutAfter) lost++;
  }
}

test("500 readers each read the whole journal across cuts and kills of two of three processes", async ({
  annotate,
}) => {
  const random = seeded(seed);
  const plans = Array.from({ length: 25 }, () =>
    planned({ steps: ["safe", "unsafe", "both", "safe", "safe", "both"], thinkMs: 20 }),
  );
  const gates = plans.map(({ nonce }) => world.holdModel(nonce, 4));
  const runs = await Promise.all(
    plans.map((plan, index) => start(plan, index % fleet.servers.length)),
  );
  const reading = Promise.all(
    Array.from({ length: 500 }, (_, index) =>
      readInPieces(runs[index % runs.length] ?? "", seeded(seed + 1 + index)),
    ),
  );
  const [one = 0, other = 1] = random.shuffled([0, 1, 2]);
  // Waits until all readers are connected. The model is held, so all runs are in progress, and the
  // readers wait for further events when the processes are killed.
  await eventually(
    "500 open streams",
    () => openAt.reduce((sum, count) => sum + count, 0) === 500 || undefined,
    40_000,
  );
  await fleet.kill(one, { notify: true });
  await fleet.kill(other, { notify: true });
  for (const gate of gates) gate.release();
  const readings = await reading;

  const journals = new Map<string, unknown[]>();
  for (const runId of runs) journals.set(runId, await journalOf(runId));
  for (const [index, { frames }] of readings.entries()) {
    const runId = runs[index % runs.length] ?? "";
    expect({ seed, index, data: frames.map(({ data }) => data) }).toEqual({
      seed,
      index,
      data: journals.get(runId),
    });
  }
  const sum = (of: (reading: ReadResult) => number) =>
    readings.reduce((total, each) => total + of(each), 0);
  await annotate(
    `seed ${seed}: ${sum(({ connections }) => connections)} connections, ${sum(({ lost }) => lost)} lost to a kill`,
  );
  expect(readings.filter(({ servers }) => servers.size > 1).length).toBeGreaterThan(400);
  expect(sum(({ lost }) => lost)).toBeGreaterThan(200);
  expect(fleet.errors).toEqual([]);
});

/** Returns the resident memory of a process, in bytes. */
function memoryOf(pid: number | undefined): number {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Returns the value of `measure` once two seconds have passed since its last rise by over 2 %. */
async function stableValue(measure: () => number): Promise<number> {
  let max = 0;
  let since = performance.now();
  return eventually(
    "a stable value",
    () => {
      const now = measure();
      if (now > max * 1.02) [max, since] = [now, performance.now()];
      return performance.now() - since > 2_000 ? now : undefined;
    },
    60_000,
  );
}

/**
 * Returns the durations in milliseconds of 60 invokes at each of the servers. The servers take
 * turns, so that other load on the machine has the same effect on all of them.
 */
async function timesOfRuns(...servers: readonly string[]): Promise<number[][]> {
  const times: number[][] = servers.map(() => []);
  for (let round = 0; round < 60; round++) {
    for (const [index, server] of servers.entries()) {
      const began = performance.now();
      const response = await fetch(`${server}/api/public/agents/${agent.id}/invoke`, {
        method: "POST",
        headers: { "x-api-key": agent.token },
        body: JSON.stringify({ input: JSON.stringify(planned()) }),
      });
      expect(response.status).toBe(200);
      times[index]?.push(performance.now() - began);
    }
  }
  return times;
}

test("200 very slow readers need little memory and do not slow down runs", async ({ annotate }) => {
  await eventually("all servers", () => fleet.servers.every(({ up }) => up) || undefined, 40_000);
  const [server, other] = fleet.servers;
  const address = server?.url ?? "";
  const plan = planned();
  const runId = await start(plan, 0);
  await eventually(
    "the end",
    async () =>
      (await readRuns(pool, plan)).some(({ status }) => status === "succeeded") || undefined,
  );
  const megabytes = 100;
  await growJournal(pool, runId, megabytes * 20, 50_000);
  await timesOfRuns(address);
  const before = memoryOf(server?.child.pid);

  // Ten at a time: readers that request the same events concurrently share the rows of one query,
  // so 200 concurrent readers would need less memory than independent ones.
  const readers: StreamReader[] = [];
  const openOne = () =>
    openStream(`${address}/api/public/runs/${runId}/events`, {
      credential: agent.token,
      paused: true,
    });
  while (readers.length < 200)
    readers.push(...(await Promise.all(Array.from({ length: 10 }, openOne))));
  const taking = setInterval(() => {
    for (const reader of readers) reader.takeByte();
  }, 1_000);
  // Waits until memory is stable. The server keeps output in its own memory only after the kernel's
  // socket buffers are full, which takes time: each of them holds some megabytes.
  const filled = await stableValue(() => memoryOf(server?.child.pid));
  const times = await timesOfRuns(address, other?.url ?? "");
  const later = await stableValue(() => memoryOf(server?.child.pid));
  clearInterval(taking);
  for (const reader of readers) reader.close();

  const rose = { filling: filled - before, staying: later - filled };
  const [here = 0, elsewhere = 0] = times.map(median);
  await annotate(
    `memory rose by ${Math.round(rose.filling / 1e6)} MB, then by ${Math.round(rose.staying / 1e6)} MB, while 200 readers had ${megabytes} MB each to read; a run took ${here.toFixed(1)} ms, and ${elsewhere.toFixed(1)} ms at another server`,
  );
  // Garbage collection alone changes the memory by about 40 MB. If the server buffered a whole
  // journal for each reader, it would need 20 GB.
  expect(rose.filling).toBeLessThan(400_000_000);
  expect(rose.staying).toBeLessThan(100_000_000);
  expect(here).toBeLessThan(Math.max(100, 3 * elsewhere));
});
