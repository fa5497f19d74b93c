import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startProxy } from "../../test/proxy.ts";

/**
 * `behind` is a process that connects to the database through a proxy, which can stop forwarding.
 * `beckon` connects directly.
 */

const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const proxy = await startProxy(beckon.db.url);
const behind = await beckon.another({
  settings: {
    DATABASE_URL: proxy.urlFor(beckon.db.url),
    BECKON_ROLE: "api",
    BECKON_DRAIN_SECONDS: "0",
  },
});
afterAll(async () => {
  proxy.weather = { type: "fair" };
  proxy.drop();
  await behind.stop();
  await proxy.close();
});
const agent = await beckon.createAgent();

const readiness = async () =>
  (await beckon.call(`${behind.url}/readyz`, { credential: null })).status;
const there = (path: string) => `${behind.url}/api/public${path}`;

/**
 * Maximum time of a response. Beckon's own limits are a few seconds, and the rest is a reserve for
 * a busy machine. Without limits, a request would wait as long as the connection hangs.
 */
const maxMs = 15_000;

async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const began = performance.now();
  return { answer: await work, ms: performance.now() - began };
}

test.each<"blackHole" | "mute">(["blackHole", "mute"])(
  "while the database hangs (%s) readiness and reads fail in time, and both recover by themselves",
  async (type) => {
    await eventually("readiness", async () => (await readiness()) === 200 || undefined);
    proxy.weather = { type };
    onTestFinished(() => {
      proxy.weather = { type: "fair" };
      proxy.drop({ hard: true });
    });
    for (const { answer, ms } of await Promise.all(
      Array.from({ length: 20 }, () => timed(readiness())),
    )) {
      expect(answer).toBe(503);
      expect(ms).toBeLessThan(maxMs);
    }
    // Sends more requests than there are database connections, so that some wait for a connection.
    const paths = Array.from({ length: 10 }, () => [
      `/agents/${agent.id}`,
      "/runs",
      "/events",
    ]).flat();
    for (const { answer, ms } of await Promise.all(
      paths.map((path) => timed(beckon.call(there(path)))),
    )) {
      expectError(answer, 503, "unavailable");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(ms).toBeLessThan(maxMs);
    }
    // Readiness responds in time even while all database connections are in use.
    const { answer, ms } = await timed(readiness());
    expect([answer, ms < maxMs]).toEqual([503, true]);

    proxy.weather = { type: "fair" };
    proxy.drop({ hard: true });
    await eventually("readiness", async () => (await readiness()) === 200 || undefined);
    expect((await beckon.call(there(`/agents/${agent.id}`))).status).toBe(200);
  },
);

test("an invoke gets the id of its run in time if the database hangs while it waits", async () => {
  await eventually("readiness", async () => (await readiness()) === 200 || undefined);
  const waiting = await beckon.createAgent();
  onTestFinished(() => {
    proxy.weather = { type: "fair" };
    proxy.drop({ hard: true });
  });
  const answered = timed(
    beckon.call(there(`/agents/${waiting.id}/invoke`), {
      body: { input: "Hello" },
      headers: { prefer: "wait=2" },
    }),
  );
  const run = await eventually(
    "the run",
    async () => (await beckon.call(`/runs?agent_id=${waiting.id}`)).body.data[0],
  );
  proxy.weather = { type: "mute" };
  const { answer, ms } = await answered;
  expect([answer.status, answer.body]).toEqual([
    202,
    { ok: true, run_id: run.id, status: "queued" },
  ]);
  expect(ms).toBeLessThan(maxMs);
});

test("simultaneous readiness requests share one query", async () => {
  await eventually("readiness", async () => (await readiness()) === 200 || undefined);
  let queries = 0;
  // The delay makes the requests overlap: a query takes at least 100 ms. A much longer delay would
  // make the query fail: if a background task uses the open connection, the query needs a new
  // connection. Then eight delayed messages must pass within the 1.5 s that the query can take.
  proxy.weather = { type: "slow", ms: 50 };
  proxy.rewrite = (bytes) => {
    if (bytes.includes("SELECT")) queries++;
    return bytes;
  };
  onTestFinished(() => {
    proxy.weather = { type: "fair" };
    proxy.rewrite = undefined;
  });
  expect(await Promise.all(Array.from({ length: 50 }, readiness))).toEqual(
    Array.from({ length: 50 }, () => 200),
  );
  // Background tasks of the process can also send queries.
  expect(queries).toBeLessThan(10);
});
