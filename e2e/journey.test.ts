import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BeckonClient, createClient, type Run } from "@beckon/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echo, held, startModelServer } from "../server/test/model-server.ts";
import { caller } from "./call.ts";
import {
  checkout,
  freePort,
  startProduct,
  stillRunning,
  temporaryFolder,
  until,
} from "./product.ts";

/** First use of a fresh installation over HTTP. The tests depend on their order. */

const folder = join(temporaryFolder(), "data");
const model = await startModelServer();
afterAll(() => model.close());
const settings = {
  BECKON_DATA_DIR: folder,
  PORT: String(await freePort()),
  BECKON_DRAIN_SECONDS: "2",
  BECKON_EGRESS_ALLOW: new URL(model.url).host,
};
let beckon: Awaited<ReturnType<typeof startProduct>>;
const key = () => readFileSync(join(folder, "bootstrap.key"), "utf8").trim();
/** Sends plain HTTP requests, to check exact responses. Other requests use the client. */
const call = caller(() => beckon.url, key);
let client: BeckonClient;

interface Agent {
  readonly id: string;
  readonly token: string;
}
let demo: Agent;
let mine: Agent;
let trigger: { readonly id: string; readonly url: string };

const invoke = (agent: { id: string }, token: string | null, input = "Hello") =>
  call(`/agents/${agent.id}/invoke`, { key: token, body: { input } });
const fire = (url: string, body: unknown = { order: 4711 }) => call(url, { key: null, body });
const codes = (...responses: { status: number; body: { code?: string } }[]) =>
  responses.map(({ status, body }) => [status, body.code].filter(Boolean).join(" "));

async function finished(runId: string): Promise<Run> {
  for await (const _ of client.runs.watch(runId));
  return client.runs.get(runId);
}

/** Waits until all runs have ended, so that the model's next request belongs to a later run. */
const idle = () =>
  until("the end of all runs", async () =>
    (await call("/runs?limit=200")).body.data.every(
      (run: { finished_at: string | null }) => run.finished_at !== null,
    ),
  );

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of list) values.push(value);
  return values;
}

beforeAll(async () => {
  beckon = await startProduct(settings);
});

test("startup prints the URL, the file with the bootstrap key, and a demo agent with the files of its secrets", () => {
  expect(beckon.url).toBe(`http://127.0.0.1:${settings.PORT}`);
  expect(beckon.printed("Bootstrap key")).toBe(join(folder, "bootstrap.key"));
  expect(statSync(beckon.printed("Bootstrap key")).mode & 0o777).toBe(0o600);
  expect(existsSync(beckon.printed("PostgreSQL log"))).toBe(true);
  demo = beckon.demo();
  client = createClient({ url: beckon.url, key: key() });
  expect(demo).toMatchObject({
    id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
    token: expect.stringMatching(/^bka_[\w-]{48}$/),
    triggerUrl: expect.stringMatching(/\/bkt_[\w-]{48}$/),
  });
  for (const file of ["Demo token", "Demo trigger"])
    expect(statSync(beckon.printed(file)).mode & 0o777).toBe(0o600);
});

/** Runs the printed commands in the folder in which Beckon was started. */
const pasteCurls = () =>
  beckon.curls().map((line) =>
    JSON.parse(
      execFileSync("sh", ["-c", line], {
        cwd: checkout,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    ),
  );

test("the printed curl commands work when pasted", () => {
  const [first, second, third, ...others] = pasteCurls();
  expect(first).toEqual({ ok: true, run_id: expect.any(String), output: "Hello" });
  expect(second).toEqual({ ok: true, run_id: expect.any(String) });
  expect(third).toEqual({ ok: true, data: expect.objectContaining({ email: "you@example.com" }) });
  expect(others).toEqual([]);
});

test("the log and the output contain no secret except the link for the first owner", async () => {
  const log = readFileSync(beckon.printed("PostgreSQL log"), "utf8");
  const { token, triggerUrl } = beckon.demo();
  for (const secret of [token, triggerUrl.split("/").at(-1), key()]) {
    expect(log).not.toContain(secret);
    expect(beckon.output()).not.toContain(secret);
  }
});

test("a provider, an agent on it and a trigger are created with the bootstrap key", async () => {
  const provider = await client.providers.create({
    name: "mine",
    kind: "openai-compatible",
    base_url: model.url,
    api_key: "secret-of-the-provider",
  });
  expect(JSON.stringify(provider)).not.toContain("secret-of-the-provider");
  mine = await client.agents.create({
    name: "Mine",
    model: "mine/large",
    instructions: "Repeat what you are told.",
  });
  trigger = await client.triggers.create(mine.id, {
    name: "Orders",
    prompt_prefix: "An order came in:",
  });
  expect(trigger.url).toMatch(new RegExp(`^${beckon.url}/api/public/triggers/bkt_[\\w-]{48}$`));
});

test("invoke calls the model and returns its output", async () => {
  const response = await invoke(mine, mine.token, "What is new?");
  expect([response.status, response.body]).toEqual([
    200,
    { ok: true, run_id: expect.any(String), output: "What is new?" },
  ]);
  const [request] = model.requests;
  expect(request?.headers.authorization).toBe("Bearer secret-of-the-provider");
  expect(request?.body).toMatchObject({
    model: "large",
    messages: [
      { role: "system", content: "Repeat what you are told." },
      { role: "user", content: "What is new?" },
    ],
  });
});

test("fire returns at once, and its run and events can be read and listed", async () => {
  const fired = await fire(trigger.url);
  expect([fired.status, fired.body]).toEqual([200, { ok: true, run_id: expect.any(String) }]);
  const run = await finished(fired.body.run_id);
  expect(run).toMatchObject({
    status: "succeeded",
    source: "trigger",
    trigger_id: trigger.id,
    input: 'An order came in:\n\n{"order":4711}',
    error: null,
  });
  const page = await client.runs.listForAgent(mine.id, { limit: 1 }).page();
  expect(page).toEqual({ data: [run], next: expect.any(String) });
  expect(await all(client.runs.listForAgent(mine.id, { limit: 1 }))).toMatchObject([
    { id: run.id },
    { input: "What is new?" },
  ]);
  // The agent's own token can read its runs, and other agents' tokens cannot.
  expect(await client.runs.get(run.id, { key: mine.token })).toEqual(run);
  await expect(client.runs.get(run.id, { key: demo.token })).rejects.toMatchObject({
    status: 404,
    code: "not_found",
  });

  const events = await all(client.runs.listEvents(run.id, { limit: 1 }));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  // Whether the run was queued first depends on the load of the processes.
  expect(events.map(({ type }) => type).filter((type) => type !== "run.queued")).toEqual([
    "run.started",
    "run.step",
    "run.finished",
  ]);
});

test("a paused agent rejects invoke and fire with 409, and a resumed one accepts them", async () => {
  const calls = model.requests.length;
  expect(await client.agents.pause(mine.id, { reason: "Maintenance" })).toMatchObject({
    paused: true,
    pause_reason: "Maintenance",
  });
  expect(codes(await invoke(mine, mine.token), await fire(trigger.url))).toEqual([
    "409 agent_paused",
    "409 agent_paused",
  ]);
  expect(codes(await invoke(demo, demo.token))).toEqual(["200"]);
  expect((await client.agents.resume(mine.id)).paused).toBe(false);
  expect(model.requests).toHaveLength(calls);
  expect(codes(await invoke(mine, mine.token), await fire(trigger.url))).toEqual(["200", "200"]);
});

test("a rotated token is rejected after the response, and the new one is valid", async () => {
  const rotated = await call(`/agents/${mine.id}/token/rotate`, { body: {} });
  const old = mine.token;
  mine = { ...mine, token: rotated.body.data.token };
  expect(
    codes(
      await invoke(mine, old),
      await invoke(mine, mine.token),
      await invoke(demo, demo.token),
      await fire(trigger.url),
    ),
  ).toEqual(["401 unauthorized", "200", "200", "200"]);
});

test("a token rotated with a grace period is valid together with the new one until its end", async () => {
  const rotated = await call(`/agents/${mine.id}/token/rotate`, { body: { grace_seconds: 1 } });
  const old = mine.token;
  mine = { ...mine, token: rotated.body.data.token };
  expect(codes(await invoke(mine, mine.token))).toEqual(["200"]);
  await until("the end of the grace", async () => (await invoke(mine, old)).status === 401);
  expect((await call(`/agents/${mine.id}/token`)).body.data.token).toBe(mine.token);
});

test("a revoked token is rejected, also in its grace period, and a rotation issues a new one", async () => {
  const rotated = await call(`/agents/${mine.id}/token/rotate`, { body: { grace_seconds: 600 } });
  expect(
    codes(await invoke(mine, mine.token), await invoke(mine, rotated.body.data.token)),
  ).toEqual(["200", "200"]);
  expect((await call(`/agents/${mine.id}/token`, { method: "DELETE" })).status).toBe(204);
  expect(
    codes(await invoke(mine, mine.token), await invoke(mine, rotated.body.data.token)),
  ).toEqual(["401 unauthorized", "401 unauthorized"]);
  mine = {
    ...mine,
    token: (await call(`/agents/${mine.id}/token/rotate`, { body: {} })).body.data.token,
  };
  expect(codes(await invoke(mine, mine.token), await invoke(demo, demo.token))).toEqual([
    "200",
    "200",
  ]);
});

test("a trigger can be rotated, disabled and enabled without effect on other triggers", async () => {
  const path = `/agents/${mine.id}/triggers/${trigger.id}`;
  const other = (await call(`/agents/${mine.id}/triggers`, { body: { name: "Other" } })).body.data;
  const old = trigger.url;
  trigger = (await call(`${path}/rotate`, { body: {} })).body.data;
  expect(codes(await fire(old), await fire(trigger.url), await fire(other.url))).toEqual([
    "401 unauthorized",
    "200",
    "200",
  ]);
  await call(path, { method: "PATCH", body: { enabled: false } });
  expect(
    codes(await fire(trigger.url), await fire(other.url), await invoke(mine, mine.token)),
  ).toEqual(["409 trigger_disabled", "200", "200"]);
  await call(path, { method: "PATCH", body: { enabled: true } });
  expect(codes(await fire(trigger.url))).toEqual(["200"]);
});

test("a deleted agent rejects all requests, and a restored one has disabled triggers and no token", async () => {
  const path = `/agents/${mine.id}`;
  expect((await call(path, { method: "DELETE" })).status).toBe(204);
  expect(codes(await invoke(mine, mine.token), await fire(trigger.url), await call(path))).toEqual([
    "401 unauthorized",
    "401 unauthorized",
    "404 not_found",
  ]);
  expect((await call(`${path}/restore`, { method: "POST" })).body.data).toMatchObject({
    id: mine.id,
    name: "Mine",
  });
  expect(codes(await invoke(mine, mine.token), await fire(trigger.url))).toEqual([
    "401 unauthorized",
    "409 trigger_disabled",
  ]);
  mine = { ...mine, token: (await call(`${path}/token/rotate`, { body: {} })).body.data.token };
  await call(`${path}/triggers/${trigger.id}`, { method: "PATCH", body: { enabled: true } });
  expect(codes(await invoke(mine, mine.token), await fire(trigger.url))).toEqual(["200", "200"]);
});

test("a running run can be cancelled, which fails its invoke and discards the model's output", async () => {
  await idle();
  const release = Promise.withResolvers<void>();
  model.script(held(release.promise, echo()));
  const seen = model.requests.length;
  const waiting = invoke(mine, mine.token, "Take your time");
  await until("the model is asked", () => model.requests.length > seen);
  const [run] = (await call(`/agents/${mine.id}/runs?limit=1`)).body.data;
  expect(run).toMatchObject({ status: "running", input: "Take your time" });
  expect((await call(`/runs/${run.id}/cancel`, { method: "POST" })).status).toBe(200);
  const response = await waiting;
  expect([response.status, response.body]).toEqual([
    500,
    { ok: false, error: expect.any(String), code: "cancelled", run_id: run.id },
  ]);
  release.resolve();
  expect(await finished(run.id)).toMatchObject({ status: "cancelled", output: null });
  model.script(echo());
});

let runningRunId: string;
let before: unknown;

test("SIGTERM stops it with exit code 0 within the drain time and leaves no process", async () => {
  await idle();
  model.script(held(new Promise(() => {}), echo()));
  const seen = model.requests.length;
  runningRunId = (await fire(trigger.url, { slow: true })).body.run_id;
  await until("the model is asked", () => model.requests.length > seen);
  before = (await call("/runs?limit=200")).body.data.filter(
    (run: { finished_at: string | null }) => run.finished_at !== null,
  );
  const started = beckon.descendants();
  expect(started.length).toBeGreaterThan(1);
  const began = performance.now();
  expect(await beckon.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(beckon.output()).toContain("Finishing 1 run, up to 2 s; Ctrl-C again to stop now.");
  expect(stillRunning(started, folder)).toEqual([]);
});

test("the next startup takes seconds, prints commands that work and no secret, keeps all data and resumes the run", async () => {
  model.script(echo());
  const began = performance.now();
  beckon = await startProduct(settings);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(beckon.output()).not.toMatch(/bka_|bkt_|bks_/);
  expect(pasteCurls()).toEqual([
    { ok: true, run_id: expect.any(String), output: "Hello" },
    { ok: true, run_id: expect.any(String) },
  ]);
  expect(beckon.printed("Bootstrap key")).toBe(join(folder, "bootstrap.key"));
  expect(await finished(runningRunId)).toMatchObject({ status: "succeeded", attempt: 1 });
  const after = (await call("/runs?limit=200")).body.data;
  expect(after).toEqual(expect.arrayContaining(before as unknown[]));
  expect((await call("/agents")).body.data.map((agent: { name: string }) => agent.name)).toEqual([
    "Mine",
    "Demo",
  ]);
  expect(
    codes(await invoke(mine, mine.token), await fire(trigger.url), await invoke(demo, demo.token)),
  ).toEqual(["200", "200", "200"]);
});

test("after a rotation the next start prints commands that work, and a revoked token has none", async () => {
  await call(`/agents/${demo.id}/token/rotate`, { body: {} });
  expect(await beckon.stop()).toBe(0);
  beckon = await startProduct(settings);
  expect(pasteCurls()).toHaveLength(2);
  demo = beckon.demo();
  expect(codes(await invoke(demo, demo.token))).toEqual(["200"]);
  const file = beckon.printed("Demo token");
  await call(`/agents/${demo.id}/token`, { method: "DELETE" });
  expect(await beckon.stop()).toBe(0);
  beckon = await startProduct(settings);
  expect(pasteCurls()).toEqual([{ ok: true, run_id: expect.any(String) }]);
  expect(existsSync(file)).toBe(false);
});

test("a second startup on the same folder fails without effect on the first", async () => {
  const second = await startProduct({ ...settings, PORT: "0" }).then(
    () => "started",
    (thrown: Error) => thrown.message,
  );
  expect(second).toContain("Another Beckon");
  expect(codes(await invoke(mine, mine.token))).toEqual(["200"]);
});
