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
import { type Frame, openStream } from "../server/test/read-stream.ts";

/** Streams of real processes: cut anywhere, gone on with anywhere, and read by those who hardly read. */
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

async function start(plan: Plan, place: number): Promise<string> {
  const response = await fetch(`${fleet.servers[place]?.url}/api/public/agents/${agent.id}/invoke`, {
    method: "POST",
    headers: { "x-api-key": agent.token, prefer: "respond-async" },
    body: JSON.stringify({ input: JSON.stringify(plan) }),
  });
  return ((await response.json()) as { run_id: string }).run_id;
}

async function journalOf(runId: string): Promise<unknown[]> {
  const { rows } = await pool.query("select id, run_id, seq, type, version, time, data from events where run_id = $1 order by seq", [
    runId,
  ]);
  return rows.map((row) => ({ ...row, time: row.time.toISOString() }));
}

interface Reading {
  /** What was read of the journal, in all pieces together. */
  readonly frames: readonly Frame[];
  readonly pieces: number;
  readonly places: ReadonlySet<number>;
  /** Pieces that ended though nobody here had cut them. */
  readonly lost: number;
}

/** Reads a run to its end. The first pieces are cut at any byte, and each goes on at any process. */
async function readInPieces(runId: string, random: Random): Promise<Reading> {
  const frames: Frame[] = [];
  const places = new Set<number>();
  let lost = 0;
  for (let piece = 1; ; piece++) {
    const place = random.below(fleet.servers.length);
    const cutAfter = piece <= 4 ? 1 + random.below(3_000) : Number.POSITIVE_INFINITY;
    const lastEventId = frames.at(-1)?.id;
    const reader = await openStream(`${fleet.servers[place]?.url}/api/public/runs/${runId}/events`, {
      credential: agent.token,
      cutAfter,
      headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
    }).catch(() => undefined);
    if (reader === undefined) {
      // It was killed, and its successor is not there yet.
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    places.add(place);
    const how = await reader.over;
    frames.push(...reader.frames.filter(({ id }) => id !== undefined));
    if (reader.status === 204 || frames.at(-1)?.event === "run.finished") return { frames, pieces: piece, places, lost };
    if (how === "cut" && cutAfter === Number.POSITIVE_INFINITY) lost++;
  }
}

test("500 readers, cut at any byte and gone on with at any process while processes are killed, have each read the journal", {
  timeout: 60_000,
}, async ({ annotate }) => {
  const random = seeded(seed);
  const plans = Array.from({ length: 25 }, () => planned({ steps: ["safe", "unsafe", "both", "safe", "safe", "both"], thinkMs: 100 }));
  const runs = await Promise.all(plans.map((plan, index) => start(plan, index % fleet.servers.length)));
  const reading = Promise.all(
    Array.from({ length: 500 }, (_, index) => readInPieces(runs[index % runs.length] ?? "", seeded(seed + 1 + index))),
  );
  await eventually("steps", () => world.effects.length > 30 || undefined, 30_000);
  const { restarted } = await fleet.kill(random.below(3), { told: true });
  await restarted;
  await fleet.kill(random.below(3), { told: true });
  const readings = await reading;

  const journals = new Map<string, unknown[]>();
  for (const runId of runs) journals.set(runId, await journalOf(runId));
  for (const [index, { frames }] of readings.entries()) {
    const runId = runs[index % runs.length] ?? "";
    expect({ seed, index, data: frames.map(({ data }) => data) }).toEqual({ seed, index, data: journals.get(runId) });
  }
  const sum = (of: (reading: Reading) => number) => readings.reduce((total, each) => total + of(each), 0);
  await annotate(`seed ${seed}: ${sum(({ pieces }) => pieces)} pieces, ${sum(({ lost }) => lost)} lost to a kill`);
  expect(readings.filter(({ places }) => places.size > 1).length).toBeGreaterThan(400);
  expect(sum(({ lost }) => lost)).toBeGreaterThan(0);
  expect(fleet.errors).toEqual([]);
});

/** Bytes of memory that a process has. */
function memoryOf(pid: number | undefined): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** What `measure` gives once it has not risen for two seconds. */
async function settled(measure: () => number): Promise<number> {
  let most = 0;
  let since = performance.now();
  return eventually(
    "a level",
    () => {
      const now = measure();
      if (now > most * 1.02) [most, since] = [now, performance.now()];
      return performance.now() - since > 2_000 ? now : undefined;
    },
    20_000,
  );
}

/** How long each of 30 runs took that a caller waited for, in milliseconds. */
async function timesOfRuns(server: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < 30; index++) {
    const began = performance.now();
    const response = await fetch(`${server}/api/public/agents/${agent.id}/invoke`, {
      method: "POST",
      headers: { "x-api-key": agent.token },
      body: JSON.stringify({ input: JSON.stringify(planned()) }),
    });
    expect(response.status).toBe(200);
    times.push(performance.now() - began);
  }
  return times;
}

test("200 readers who take next to nothing cost little memory, and slow no run down", { timeout: 60_000 }, async ({ annotate }) => {
  const server = fleet.servers.find(({ up }) => up);
  const address = server?.url ?? "";
  const plan = planned();
  const runId = await start(
    plan,
    fleet.servers.findIndex(({ url }) => url === address),
  );
  await eventually("the end", async () => ((await readRuns(pool, plan))[0]?.status === "succeeded" ? true : undefined));
  const megabytes = 12;
  await growJournal(pool, runId, megabytes * 20, 50_000);
  await timesOfRuns(address);
  const before = { memory: memoryOf(server?.child.pid), time: median(await timesOfRuns(address)) };

  const readers = await Promise.all(
    Array.from({ length: 200 }, () => openStream(`${address}/api/public/runs/${runId}/events`, { credential: agent.token, paused: true })),
  );
  const taking = setInterval(() => {
    for (const reader of readers) reader.takeByte();
  }, 1_000);
  // What sockets hold fills first: some megabytes each, the kernel's.
  const filled = await settled(() => memoryOf(server?.child.pid));
  const times = [...(await timesOfRuns(address)), ...(await timesOfRuns(address))];
  const later = await settled(() => memoryOf(server?.child.pid));
  clearInterval(taking);
  const [fast] = readers;
  fast?.resume();
  await fast?.over;
  for (const reader of readers) reader.close();

  const unsent = 200 * megabytes * 1_000_000;
  const rose = { filling: filled - before.memory, staying: later - filled };
  await annotate(
    `memory rose by ${Math.round(rose.filling / 1e6)} MB, then by ${Math.round(rose.staying / 1e6)} MB, while up to ${unsent / 1e6} MB were unread; a run took ${before.time.toFixed(1)} ms before and ${median(times).toFixed(1)} ms then`,
  );
  expect(rose.filling).toBeLessThan(unsent / 5);
  expect(rose.staying).toBeLessThan(unsent / 50);
  expect(median(times)).toBeLessThan(Math.max(20, 2 * before.time));
  expect(fast?.seqs).toEqual(Array.from({ length: megabytes * 20 + 3 }, (_, index) => index + 1));
});
