import { connect } from "node:net";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { addPerson } from "../../test/people.ts";
import { openStream } from "../../test/read-stream.ts";
import { createReceiving, unverified } from "../../test/receiving-trigger.ts";
import { statesOf } from "../../test/runs-of.ts";

const { log, named } = captureLog();
const beckon = await startTestBeckon({}, { log, streamLimits: { maxPerCredential: 1 } });
const { engine } = beckon.db.database;

const onlyRunOf = async (agentId: string) =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data[0];

test("a caller that disconnects does not stop its run", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const leaving = new AbortController();
  const invoked = beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    signal: leaving.signal,
  });
  await held.reached(1);
  leaving.abort();
  await expect(invoked).rejects.toThrow();
  held.release();
  const run = await eventually("the end of the run", async () => {
    const found = await onlyRunOf(agent.id);
    return found.finished_at === null ? undefined : found;
  });
  expect(run).toMatchObject({ status: "succeeded", output: "Hello" });
});

test("a caller that repeats its request with the same key gets the output", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const leaving = new AbortController();
  const headers = { "idempotency-key": "k" };
  const invoked = beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    headers,
    signal: leaving.signal,
  });
  await held.reached(1);
  leaving.abort();
  await expect(invoked).rejects.toThrow();
  held.release();
  const { status, body } = await beckon.invoke(agent, "Hello", headers);
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(held.requests.length).toBe(1);
});

/**
 * Sends a complete request, and disconnects while the server waits for a lock on the table and has
 * not read the body yet. Releases the lock after that.
 */
async function sendAndDisconnect(
  table: "keys" | "sessions" | "triggers",
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const lines = Object.entries({
    host: `${hostname}:${port}`,
    "content-length": body.length,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const disconnections = () => named("request").filter(({ disconnected }) => disconnected).length;
  const before = disconnections();
  const lock = await engine.connect();
  const client = connect(Number(port), hostname);
  try {
    await lock.query("begin");
    await lock.query(`lock table ${table} in access exclusive mode`);
    client.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    await eventually("the query that waits for the lock", async () => {
      const { rows } = await engine.query(
        `select 1 from pg_locks where not granted and relation = $1::regclass
          and database = (select oid from pg_database where datname = current_database())`,
        [table],
      );
      return rows[0];
    });
    client.destroy();
    await eventually("the line of the request", () => disconnections() > before || undefined);
  } finally {
    client.destroy();
    await lock.query("rollback");
    lock.release();
  }
}

test("a caller that disconnects before its body is read starts its run and keeps no capacity for a stream", async () => {
  const agent = await beckon.createAgent();
  const person = await addPerson(beckon, { role: "editor" });
  const headers = {
    cookie: person.cookie,
    origin: beckon.url,
    "content-type": "application/json",
    accept: "text/event-stream",
  };
  const url = `${beckon.url}/api/public/agents/${agent.id}/invoke`;
  await sendAndDisconnect("sessions", url, headers, '{"input":"Hello"}');
  await eventually("the end of the run", async () =>
    (await statesOf(beckon, agent.id)).succeeded === 1 ? true : undefined,
  );
  const stream = await eventually("capacity for another stream", async () => {
    const reader = await openStream(url, { body: { input: "Hello" }, headers });
    return reader.status === 200 ? reader : undefined;
  });
  await stream.over;
});

test("a webhook whose sender disconnects while its trigger is read starts its run", async () => {
  const trigger = await createReceiving(
    beckon,
    (await beckon.createAgent()).id,
    { allowed_addresses: ["127.0.0.0/8"] },
    { from: unverified },
  );
  await sendAndDisconnect("triggers", trigger.url, { "content-type": "text/plain" }, "Hello");
  const requests = await eventually("the received request", async () => {
    const found = await trigger.requests();
    return found.length > 0 ? found : undefined;
  });
  expect(requests).toMatchObject([
    { outcome: "started", address: "127.0.0.1", body: Buffer.from("Hello") },
  ]);
});

test("a change whose client disconnects while its key is checked is audited with its address", async () => {
  const headers = { "x-api-key": beckon.key, "content-type": "application/json" };
  const url = `${beckon.url}/api/public/agents`;
  const body = JSON.stringify({ name: "Left", model: "demo/echo" });
  await sendAndDisconnect("keys", url, headers, body);
  const agent = await eventually("the agent", async () =>
    (await beckon.call("/agents")).body.data.find(({ name }: { name: string }) => name === "Left"),
  );
  const { data } = (await beckon.call(`/audit?target=${agent.id}`)).body;
  expect(data).toMatchObject([{ action: "agent.create", address: "127.0.0.1" }]);
});
