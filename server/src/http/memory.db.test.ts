import { connect, type Socket } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { insertStranger } from "../../test/workspace-key.ts";
import { LateListener } from "../base/listener/index.ts";

const heapChanges = new LateListener<[isFull: boolean]>();
const heap = { isFull: false, onChange: heapChanges.register, stop: () => {} };
const { log, named } = captureLog();
/**
 * With this budget, the limit for bodies and responses in memory is 30 MiB, and 22.5 MiB for those
 * of one workspace.
 */
const beckon = await startTestBeckon(
  { BECKON_MEMORY_BUDGET_MIB: "96", BECKON_METRICS_PORT: "0" },
  { heap, log },
);

function setFull(isFull: boolean): void {
  heap.isFull = isFull;
  heapChanges.call(isFull);
}

/**
 * Sends all but the last byte of a body of 1 MiB and keeps the connection open. `answer` is what
 * was received so far.
 */
function sendSlowly(url: string, token = ""): { readonly socket: Socket; answer: string } {
  const { hostname, port, pathname } = new URL(url);
  const slow = { socket: connect(Number(port), hostname), answer: "" };
  onTestFinished(() => void slow.socket.destroy());
  slow.socket
    .on("error", () => {})
    .on("data", (chunk) => {
      slow.answer += chunk;
    });
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${token}\r\ncontent-length: 1048576\r\n\r\n`;
  slow.socket.write(head + "x".repeat(1_048_575));
  return slow;
}

// This test must be the first of the file. Of several rejections because of overload, only the
// first is logged at once. After a rejection by an earlier test, a wrong rejection in this test
// would not be logged, so the test would not detect it.
test("a client that disconnects before its large response is ready is not logged as overload", async () => {
  const agent = await beckon.createAgent({ instructions: "x".repeat(100_000) });
  const { engine } = beckon.db.database;
  const lock = await engine.connect();
  const aborted = new AbortController();
  try {
    await lock.query("begin");
    await lock.query("lock table agents in access exclusive mode");
    const call = beckon.call(`/agents/${agent.id}`, { signal: aborted.signal });
    await eventually("the query that waits for the lock", async () => {
      const { rows } = await engine.query(
        `select 1 from pg_locks where not granted and relation = 'agents'::regclass
          and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows[0];
    });
    aborted.abort();
    await expect(call).rejects.toThrow();
    await eventually("the line of the request", () =>
      named("request").find(({ disconnected }) => disconnected),
    );
  } finally {
    await lock.query("rollback");
    lock.release();
  }
  expect((await beckon.call(`/agents/${agent.id}`)).status).toBe(200);
  expect(named("requests are rejected with 503")).toEqual([]);
});

/** Returns the URL of a new agent or trigger, and the token to send to it. */
async function createTarget(kind: "invoke" | "fire") {
  const agent = await beckon.createAgent();
  return kind === "invoke"
    ? { url: `${beckon.url}/api/public/agents/${agent.id}/invoke`, token: agent.token }
    : { url: (await beckon.createTrigger(agent.id)).url, token: undefined };
}

test.each(["invoke", "fire"] as const)(
  "more large bodies by %s than one workspace can send at once get 503, those of another workspace do not",
  async (kind) => {
    const targets = [await createTarget(kind), await createTarget(kind)] as const;
    const send = async ({ url, token }: (typeof targets)[0], input: string) =>
      (await beckon.call(url, { credential: token ?? null, body: { input } })).status;
    const stranger = await insertStranger(beckon);
    const ofStranger = await beckon.call("/agents", {
      credential: stranger,
      body: { name: "Test", model: "demo/echo" },
    });
    const other = {
      url: `${beckon.url}/api/public/agents/${ofStranger.body.data.id}/invoke`,
      token: stranger,
    };
    const large = "x".repeat(1_040_000);
    expect(await send(targets[0], large)).toBe(200);
    // Each byte of a body counts six times, so the workspace can send three of these bodies (1 MiB)
    // at once, whatever credentials it uses.
    const slow = targets.flatMap(({ url, token }) => [1, 2, 3].map(() => sendSlowly(url, token)));
    const rejected = await eventually("three rejected bodies", () => {
      const answers = slow.flatMap(({ answer }) => (answer.includes("}") ? [answer] : []));
      return answers.length === 3 ? answers : undefined;
    });
    for (const answer of rejected)
      expect(answer).toMatch(/^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n.*"code":"unavailable"/s);
    expect(await send(other, large)).toBe(200);
    expect(await send(targets[0], "small")).toBe(200);
    for (const { socket } of slow) socket.destroy();
    await eventually(
      "capacity for its bodies again",
      async () => (await send(targets[0], large)) === 200 || undefined,
    );
  },
);

/** Creates an agent whose model answers with this many characters. */
async function createTalker(characters: number) {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(says("x".repeat(characters)));
  const { name } = await beckon.createProvider(server.url, `says-${characters}`);
  return beckon.createAgent({
    model: `${name}/scripted`,
    limits: { max_answer_bytes: 6_000_000 },
  });
}

test("an output that does not fit now is answered with 503 and the run's id", async () => {
  const agent = await createTalker(2_000_000);
  const { url, token } = await createTarget("invoke");
  // Three bodies count for 18 MiB, the output for 10 MB. The fourth body does not fit either.
  const slow = [1, 2, 3, 4].map(() => sendSlowly(url, token));
  await eventually("a rejected body", () => slow.find(({ answer }) => answer.includes("}")));
  const { status, body, headers } = await beckon.invoke(agent, "hello");
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "unavailable", null]);
  expect(body.error).toContain(body.run_id);
  for (const { socket } of slow) socket.destroy();
});

test("an output that never fits is answered with 413 and the run's id", async () => {
  const { status, body } = await beckon.invoke(await createTalker(5_000_000), "hello");
  expect([status, body.code]).toEqual([413, "too_large"]);
  expect(body.error).toContain("The run has succeeded");
  expect(body.error).toContain(body.run_id);
});

describe("a run whose output never fits into the memory for responses", () => {
  let agentId: string;
  let [newest, huge, oldest] = ["", "", ""];
  const list = (query: string) => beckon.call(`/agents/${agentId}/runs?${query}`);

  beforeAll(async () => {
    const server = await startModelServer();
    server.script([says("small"), says("x".repeat(5_000_000)), says("small")]);
    const { name } = await beckon.createProvider(server.url, "huge");
    const agent = await beckon.createAgent({
      model: `${name}/scripted`,
      limits: { max_answer_bytes: 6_000_000 },
    });
    agentId = agent.id;
    const runIds: string[] = [];
    for (let n = 0; n < 3; n++) runIds.unshift((await beckon.invoke(agent, "hello")).body.run_id);
    [newest = "", huge = "", oldest = ""] = runIds;
    await server.close();
  });

  test("gets 413 without Retry-After, alone and in a page", async () => {
    const { next } = (await list("limit=1")).body;
    for (const read of [await beckon.call(`/runs/${huge}`), await list(`after=${next}`)]) {
      expectError(read, 413, "too_large", /view=summary.*BECKON_MEMORY_BUDGET_MIB/);
      expect(read.headers.get("retry-after")).toBeNull();
    }
  });

  test("does not hide the other runs: a page with view=summary continues after it", async () => {
    const first = await list("");
    const past = await list(`view=summary&limit=1&after=${first.body.next}`);
    const rest = await list(`after=${past.body.next}`);
    const pages = [first, past, rest].map(({ body }) =>
      body.data.map(({ id }: { id: string }) => id),
    );
    expect(pages).toEqual([[newest], [huge], [oldest]]);
  });

  test("can be read from the artifact that its final event names", async () => {
    const { data } = (await beckon.call(`/runs/${huge}/events`)).body;
    const { artifact_id: artifactId } = data.at(-1).data;
    const { body } = await beckon.call(`/runs/${huge}/artifacts/${artifactId}`);
    expect(body.output).toHaveLength(5_000_000);
  });
});

test("a change whose response is too large to be sent now is saved, and its 503 says so without Retry-After", async () => {
  const agent = await beckon.createAgent({ instructions: "x".repeat(100_000) });
  setFull(true);
  onTestFinished(() => setFull(false));
  const path = `/agents/${agent.id}`;
  const changed = await beckon.call(path, {
    method: "PATCH",
    body: { name: "Renamed" },
    headers: { "if-match": '"1"' },
  });
  expectError(changed, 503, "unavailable");
  expect(changed.headers.get("retry-after")).toBeNull();
  expect(changed.body.error).toContain("The request was executed");
  const read = await beckon.call(path);
  expect([read.status, read.headers.get("retry-after")]).toEqual([503, "1"]);
  setFull(false);
  expect((await beckon.call(path)).body.data).toMatchObject({ name: "Renamed", version: 2 });
});

test("a change whose response never fits gets 413, is saved, and its message says so", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const trigger = await beckon.createTrigger(agent.id);
  const send = (body: string) => beckon.call(trigger.url, { credential: null, body });
  await send("executing");
  await held.reached(1);
  // JSON has six characters for this one.
  const queued = await send("\u0001".repeat(1_000_000));
  const changed = await beckon.call(`/runs/${queued.body.run_id}/cancel`, { method: "POST" });
  expectError(changed, 413, "too_large", /The request was executed/);
  expect(changed.headers.get("retry-after")).toBeNull();
  const { data } = (await beckon.call(`/agents/${agent.id}/runs?view=summary&limit=1`)).body;
  expect(data).toMatchObject([{ id: queued.body.run_id, status: "cancelled" }]);
});

test("a preview whose response is too large to be sent now can be repeated, because it changes nothing", async () => {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { prompt_prefix: "x".repeat(100_000) });
  setFull(true);
  onTestFinished(() => setFull(false));
  const preview = await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}/preview`, {
    body: { request: { payload: "hello" } },
  });
  expectError(preview, 503, "unavailable", /Ask again shortly/);
  expect(preview.headers.get("retry-after")).toBe("1");
});

test("no stream is opened while the memory is full", async () => {
  setFull(true);
  onTestFinished(() => setFull(false));
  const headers = { accept: "text/event-stream" };
  const rejected = await beckon.call("/events", { headers });
  expectError(rejected, 503, "unavailable", /no memory for further streams/);
  expect(rejected.headers.get("retry-after")).toBe("5");
});

test("an export that is too large to be sent now gets 503", async () => {
  const agent = await beckon.createAgent({ instructions: "x".repeat(100_000) });
  await beckon.db.database.engine.query(
    `insert into audit (id, workspace_id, actor, action, target, data)
      select 'aud_' || lpad(i::text, 26, '0'), 'wsp_00000000000000000000000000', 'test', 'test.fill',
        'x', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 100) as i`,
  );
  setFull(true);
  onTestFinished(() => setFull(false));
  for (const path of [
    "/agents/export",
    `/agents/${agent.id}/export`,
    "/audit/export?action=test.fill",
  ]) {
    const { status, headers } = await beckon.call(path);
    expect([path, status, headers.get("retry-after")]).toEqual([path, 503, "1"]);
  }
  expect((await beckon.call("/audit/export?actor=nobody")).status).toBe(200);
});

test("an export whose later agents are too large to be sent now is not sent to its end", async () => {
  const credential = await insertStranger(beckon);
  for (const instructions of [..."12345", "x".repeat(100_000)])
    await beckon.call("/agents", {
      credential,
      body: { name: "Test", model: "demo/echo", instructions },
    });
  setFull(true);
  onTestFinished(() => setFull(false));
  await expect(beckon.call("/agents/export", { credential })).rejects.toThrow();
  setFull(false);
  const { agents } = (await beckon.call("/agents/export", { credential })).body;
  expect(agents).toHaveLength(6);
});

test("a page of large agents can be sent", async () => {
  const credential = await insertStranger(beckon);
  const instructions = "x".repeat(200_000);
  const agents = Array.from({ length: 5 }, () => ({
    name: "Test",
    model: "demo/echo",
    instructions,
  }));
  for (let n = 0; n < 5; n++)
    await beckon.call("/agents/import", { credential, body: { beckon: 1, agents } });
  const { status, body } = await beckon.call("/agents?limit=200", { credential });
  expect([status, body.data?.length, typeof body.next]).toEqual([200, 15, "string"]);
});

test("a page of large triggers ends early, and its cursor continues with the next trigger", async () => {
  const agent = await beckon.createAgent();
  const prompt_prefix = "x".repeat(100_000);
  for (let n = 0; n < 48; n++) await beckon.createTrigger(agent.id, { prompt_prefix });
  const path = `/agents/${agent.id}/triggers?limit=200`;
  const first = await beckon.call(path);
  const second = await beckon.call(`${path}&after=${first.body.next}`);
  expect([first.body.data?.length, second.body.data?.length]).toEqual([32, 16]);
  expect(second.body.next).toBeNull();
});

describe("an export of agents with many large triggers", () => {
  /** Creates an agent whose export has `count` times 100,000 characters. */
  async function addAgent(credential: string, count: number): Promise<string> {
    const agent = { name: "Test", model: "demo/echo" };
    const { id } = (await beckon.call("/agents", { credential, body: agent })).body.data;
    const trigger = { name: "Test", prompt_prefix: "x".repeat(100_000) };
    for (let n = 0; n < count; n++)
      await beckon.call(`/agents/${id}/triggers`, { credential, body: trigger });
    return id;
  }

  test("is complete if only each agent fits into the memory", async () => {
    const credential = await insertStranger(beckon);
    for (let n = 0; n < 5; n++) await addAgent(credential, 10);
    const { status, body } = await beckon.call("/agents/export", { credential });
    expect([status, body.agents?.length]).toEqual([200, 5]);
  });

  test("ends early at an agent that never fits into the memory, and the log says why", async () => {
    const credential = await insertStranger(beckon);
    await addAgent(credential, 0);
    await addAgent(credential, 48);
    const other = captureLog();
    const server = await beckon.another({ log: other.log });
    onTestFinished(() => server.stop());
    const exported = beckon.call(`${server.url}/api/public/agents/export`, { credential });
    await expect(exported).rejects.toThrow();
    expect(other.named("a response was ended early")).toMatchObject([
      { reason: expect.stringContaining("BECKON_MEMORY_BUDGET_MIB") },
    ]);
  });

  test("gets 413 without Retry-After if one agent never fits into the memory", async () => {
    const credential = await insertStranger(beckon);
    const id = await addAgent(credential, 48);
    for (const path of [`/agents/${id}/export`, "/agents/export"]) {
      const statements = await executedStatements(async () => {
        const exported = await beckon.call(path, { credential });
        expectError(exported, 413, "too_large", /BECKON_MEMORY_BUDGET_MIB/);
        expect(exported.headers.get("retry-after")).toBeNull();
      });
      // Only the statement that reads the triggers has this column.
      expect(statements.join()).not.toContain("allows_callback");
    }
  });
});

test("a page of runs ends early if their texts are large, and its cursor continues with the next run", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(says("x".repeat(1_500_000)));
  const { name } = await beckon.createProvider(server.url, "paged");
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const made = [];
  for (let n = 0; n < 5; n++) made.unshift((await beckon.invoke(agent, "hello")).body.run_id);
  const pages: string[][] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { body }: { body: { data: { id: string }[]; next: string | null } } = await beckon.call(
      `/agents/${agent.id}/runs?limit=100${after === "" ? "" : `&after=${after}`}`,
    );
    pages.push(body.data.map(({ id }) => id));
    after = body.next;
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(made);
});

test("while the heap is full nothing is started, and afterwards everything works again", async () => {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  expect(await beckon.metric("beckon_heap_full")).toBe(0);
  setFull(true);
  expect(await beckon.metric("beckon_heap_full")).toBe(1);
  expect((await fetch(`${beckon.url}/readyz`)).status).toBe(503);
  const answers = [
    await beckon.invoke(agent, "hello"),
    await beckon.call(trigger.url, { credential: null, body: "hello" }),
  ];
  for (const { status, body, headers } of answers) {
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "unavailable", "5"]);
  }
  setFull(false);
  expect((await fetch(`${beckon.url}/readyz`)).status).toBe(200);
  expect((await beckon.invoke(agent, "hello")).status).toBe(200);
});

test("a run that another process has accepted in the meantime is executed when memory is free again", async () => {
  const agent = await beckon.createAgent();
  const api = await beckon.another({ settings: { BECKON_ROLE: "api" } });
  onTestFinished(() => api.stop());
  setFull(true);
  const invoked = beckon.call(`${api.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "kept" },
  });
  const { data } = await eventually("the run in the queue", async () => {
    const { body } = await beckon.call(`/agents/${agent.id}/runs`);
    return body.data.length === 1 ? body : undefined;
  });
  expect(data[0].status).toBe("queued");
  setFull(false);
  expect((await invoked).body.output).toBe("kept");
});
