import { CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { echo, startModelServer } from "../../test/model-server.ts";
import { type Received, startReceiver } from "../../test/receiver.ts";
import { type Subscribed, type SubscribeOptions, subscribe } from "../../test/subscribe.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const receiver = await startReceiver();
const other = await startReceiver();
afterAll(() => Promise.all([receiver.close(), other.close()]));
beforeEach(async () => {
  await engine.query("update subscriptions set deleted_at = now() where deleted_at is null");
  receiver.received.length = 0;
  other.received.length = 0;
});

const subscribed = (options: Partial<SubscribeOptions> = {}) =>
  subscribe(engine, beckon.config.masterKey, { url: receiver.url, ...options });
const deliveriesOf = async ({ id }: Subscribed) =>
  (await engine.query("select * from deliveries where subscription_id = $1 order by id", [id]))
    .rows;
const settled = (subscription: Subscribed, count: number) =>
  eventually(`${count} finished deliveries`, async () => {
    const rows = await deliveriesOf(subscription);
    return rows.length >= count && rows.every(({ status }) => status !== "pending")
      ? rows
      : undefined;
  });
const headersOf = ({ headers }: Received) => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"]),
});

describe("signatures", () => {
  test("standardwebhooks and svix verify 1,000 deliveries, and reject altered and old ones", async () => {
    const subscription = await subscribed();
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id);
    for (let batch = 0; batch < 10; batch++)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          beckon.call(trigger.url, { credential: null, body: { n } }),
        ),
      );
    const received = await receiver.awaitCount(1_000, undefined, 90_000);
    const webhook = new Webhook(subscription.secret);
    const svix = new SvixWebhook(subscription.secret);
    for (const each of received) {
      expect(webhook.verify(each.text, headersOf(each))).toEqual(each.body);
      expect(() => svix.verify(each.text, headersOf(each))).not.toThrow();
    }
    const [some] = received;
    if (some === undefined) throw new Error("nothing was received");
    const old = {
      ...headersOf(some),
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000) - 3_600),
    };
    for (const library of [webhook, svix]) {
      expect(() => library.verify(`${some.text} `, headersOf(some))).toThrow();
      expect(() =>
        library.verify(some.text, { ...headersOf(some), "webhook-id": "evt_other" }),
      ).toThrow();
      expect(() => library.verify(some.text, old)).toThrow(/too old/);
    }
    expect(new Set(received.map(({ id }) => id)).size).toBe(1_000);
  });

  test("the CloudEvents SDK parses the other form, which is signed in the same way", async () => {
    const subscription = await subscribed({ format: "cloudevents", eventTypes: ["run.finished"] });
    const agent = await beckon.createAgent();
    await beckon.invoke(agent, "Hello");
    const [delivery] = await receiver.awaitCount(1);
    if (delivery === undefined) throw new Error("nothing was received");
    new Webhook(subscription.secret).verify(delivery.text, headersOf(delivery));
    const event = HTTP.toEvent({ headers: delivery.headers, body: delivery.text });
    if (!(event instanceof CloudEvent)) throw new Error("more than one event");
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      id: delivery.id,
      type: "beckon.run.finished",
      source: `/workspaces/${subscription.workspaceId}`,
      data: { event_id: delivery.id, agent_id: agent.id },
    });
    expect(event.subject).toMatch(/^run_/);
  });

  test("the body has the event, and headers are the extra ones and those of Standard Webhooks", async () => {
    const { id, workspaceId } = await subscribed({ headers: { authorization: "Bearer x" } });
    const agent = await beckon.createAgent();
    const { run_id: runId } = (await beckon.invoke(agent, "Hello")).body;
    const [started, finished] = await receiver.awaitCount(2);
    const events = (await beckon.call(`/runs/${runId}/events`)).body.data;
    // `run.started` is not always the first event: under load, the run is queued first.
    const first = events.find(({ type }: { type: string }) => type === "run.started");
    const last = events.at(-1);
    const data = {
      workspace_id: workspaceId,
      subscription_id: id,
      agent_id: agent.id,
      run_id: runId,
      version: 1,
    };
    const bodies = [started?.body, finished?.body].sort((a, b) => a.data.seq - b.data.seq);
    expect(bodies).toEqual([
      {
        type: "run.started",
        timestamp: first.time,
        data: {
          ...data,
          event_id: first.id,
          seq: first.seq,
          url: `${beckon.url}/api/public/runs/${runId}/events/${first.seq}`,
          payload: {},
        },
      },
      {
        type: "run.finished",
        timestamp: last.time,
        data: {
          ...data,
          event_id: last.id,
          seq: last.seq,
          url: `${beckon.url}/api/public/runs/${runId}/events/${last.seq}`,
          payload: last.data,
        },
      },
    ]);
    expect(finished?.headers).toMatchObject({
      authorization: "Bearer x",
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^Beckon\/\d/),
    });
  });

  test("while two secrets overlap, both verify each delivery, and then only one signs", async () => {
    const subscription = await subscribed();
    const { secret } = await subscribed({ url: other.url });
    const newer = await engine.query(
      `update subscriptions set previous_secret = secret, previous_secret_until = now() + interval '1 hour'
       where id = $1 returning id`,
      [subscription.id],
    );
    expect(newer.rowCount).toBe(1);
    const agent = await beckon.createAgent();
    await beckon.invoke(agent, "Hello");
    const [delivery] = await receiver.awaitCount(1);
    expect(String(delivery?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
    if (delivery !== undefined)
      new Webhook(subscription.secret).verify(delivery.text, headersOf(delivery));
    expect(secret).not.toBe(subscription.secret);

    await engine.query(
      "update subscriptions set previous_secret_until = now() - interval '1 second' where id = $1",
      [subscription.id],
    );
    const { run_id: runId } = (await beckon.invoke(agent, "Hello")).body;
    const [later] = await receiver.awaitCount(1, ({ body }) => body.data.run_id === runId);
    expect(String(later?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  });
});

describe("which events", () => {
  test("are delivered: those of the types, agents, triggers and tags of the subscription", async () => {
    const [one, two] = [await beckon.createAgent(), await beckon.createAgent()];
    const trigger = await beckon.createTrigger(one.id);
    const eventTypes = ["run.finished", "agent.paused", "usage.threshold"];
    const ofAgent = await subscribed({ agentIds: [one.id], eventTypes });
    const ofTrigger = await subscribed({ triggerIds: [trigger.id], eventTypes });
    const ofTags = await subscribed({ tags: ["a", "b"], eventTypes });
    const ofAll = await subscribed({ eventTypes });
    await beckon.invoke(one, "invoked");
    await beckon.invoke(two, "tagged", { "beckon-tags": "x,b" });
    const fired = (await beckon.call(trigger.url, { credential: null, body: "fired" })).body.run_id;
    await beckon.call(`/agents/${two.id}/pause`, { method: "POST", body: {} });
    const payloads = async (subscription: Subscribed, count: number) =>
      (await settled(subscription, count)).map(
        (row) => row.data.output ?? `${row.type} ${row.agent_id === two.id ? "two" : "one"}`,
      );
    expect((await payloads(ofAll, 4)).sort()).toEqual(expect.arrayContaining(["agent.paused two"]));
    expect(await payloads(ofAgent, 2)).toHaveLength(2);
    expect((await deliveriesOf(ofTrigger)).map(({ run_id }) => run_id)).toEqual([fired]);
    expect(await payloads(ofTags, 1)).toHaveLength(1);
    expect((await deliveriesOf(ofTags)).every(({ agent_id }) => agent_id === two.id)).toBe(true);
  });

  test("of a new subscription cannot be those that its triggers, tags or agents exclude", async () => {
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id);
    const create = (types: readonly string[], selection: object) =>
      beckon.call("/subscriptions", {
        body: { url: receiver.url, event_types: ["run.failed", ...types], ...selection },
      });
    const ofAgents = ["agent.paused", "usage.threshold"];
    for (const selection of [{ trigger_ids: [trigger.id] }, { tags: ["one"] }]) {
      const answer = await create(ofAgents, selection);
      expectError(answer, 400, "bad_request", /^event_types: .* agent.*, usage.* are never/);
    }
    const wide = await create(["subscription.disabled"], { agent_ids: [agent.id] });
    expectError(wide, 400, "bad_request", /^event_types: with agent_ids, .* is never/);
    expect((await create(ofAgents, { agent_ids: [agent.id] })).status).toBe(201);
  });

  test("can be excluded by a stored selection until the selection is changed", async () => {
    const { id } = await subscribed({ tags: ["one"], eventTypes: ["agent.paused"] });
    const change = (body: object) => beckon.call(`/subscriptions/${id}`, { method: "PATCH", body });
    expect((await change({ description: "Kept" })).body.data).toMatchObject({ tags: ["one"] });
    for (const body of [{ event_types: ["agent.resumed"] }, { tags: ["two"] }])
      expectError(await change(body), 400, "bad_request", /^event_types: with tags, .* never/);
    expect((await change({ tags: null })).status).toBe(200);
  });

  test("of draft runs are never delivered, nor those of another workspace", async () => {
    const { rows } = await engine.query(
      "insert into workspaces (id, name) values ('wsp_stranger', 'Stranger') returning id",
    );
    const stranger = await subscribed({ workspaceId: rows[0].id });
    const own = await subscribed({ eventTypes: ["run.finished"] });
    const agent = await beckon.createAgent();
    const { body } = await beckon.call(`/agents/${agent.id}/draft-runs`, {
      body: { input: "draft", config: {} },
    });
    await eventually("the end of the draft run", async () =>
      (await beckon.call(`/runs/${body.data.id}`)).body.data.finished_at === null
        ? undefined
        : true,
    );
    await beckon.invoke(agent, "not a draft");
    expect(await settled(own, 1)).toHaveLength(1);
    expect(await deliveriesOf(stranger)).toEqual([]);
  });

  test("of paused subscriptions become rows without data, and thin ones have ids only", async () => {
    const paused = await subscribed({ status: "paused" });
    const thin = await subscribed({ payload: "thin", eventTypes: ["run.finished"] });
    await beckon.invoke(await beckon.createAgent(), "Hello");
    const [delivery] = await receiver.awaitCount(1);
    expect(delivery?.body.data).not.toHaveProperty("payload");
    expect(await settled(thin, 1)).toMatchObject([{ status: "succeeded", data: null }]);
    const rows = await deliveriesOf(paused);
    expect(rows.map(({ type }) => type)).toEqual(["run.started", "run.finished"]);
    for (const row of rows) expect(row).toMatchObject({ status: "not_sent", data: null });
  });

  test("with data above 64 KiB are sent whole if the body stays below 256 KiB", async () => {
    await subscribed({ eventTypes: ["run.finished"] });
    const models = await startModelServer();
    const { name } = await beckon.createProvider(models.url, "large-output");
    models.script(echo());
    const agent = await beckon.createAgent({ model: `${name}/scripted` });
    const texts = ["x".repeat(100_000), "y".repeat(300_000)];
    for (const text of texts) await beckon.invoke(agent, text);
    const received = await receiver.awaitCount(2);
    const payloads = received.map(({ body }) => body.data.payload);
    expect(payloads.find(({ output }) => output !== undefined)?.output).toBe(texts[0]);
    const reference = {
      artifact_id: expect.stringMatching(/^art_/),
      bytes: expect.any(Number),
      usage: expect.objectContaining({ output_tokens: expect.any(Number) }),
      cost_micros: null,
    };
    expect(payloads.find(({ output }) => output === undefined)).toEqual(reference);

    // docs/subscriptions.md tells receivers to read data that is too large for a delivery in these
    // steps.
    for (const { body } of received) {
      const { url, run_id: runId, payload } = body.data;
      const { data } = (await beckon.call(url)).body.data;
      expect(data).toEqual(reference);
      const { artifact_id: id } = payload.output === undefined ? payload : data;
      const whole = (await beckon.call(`/runs/${runId}/artifacts/${id}`)).body;
      expect(texts).toContain(whole.output);
      expect(payload.output ?? whole.output).toBe(whole.output);
    }
    await models.close();
  });
});

test("a key without runs:read sees neither what was sent nor what the receiver repeats of it", async () => {
  receiver.respond = ({ text }, response) => response.end(text);
  const subscription = await subscribed({ eventTypes: ["run.finished"] });
  await beckon.invoke(await beckon.createAgent(), "confidential");
  const [{ id }] = await settled(subscription, 1);
  const { key } = (
    await beckon.call("/keys", { body: { name: "Test", scopes: ["subscriptions:read"] } })
  ).body.data;
  const shown = await beckon.call(`/subscriptions/${subscription.id}/deliveries/${id}`, {
    credential: key,
  });
  expect(shown.body.data).toMatchObject({
    id,
    status: "succeeded",
    body: null,
    attempts_log: [{ status: 200, response_body: "" }],
  });
  receiver.respond = (_request, response) => response.writeHead(204).end();
});

test("a delivery shows its last 50 attempts", async () => {
  const subscription = await subscribed({ eventTypes: ["run.finished"] });
  await beckon.invoke(await beckon.createAgent(), "Hello");
  const [{ id }] = await settled(subscription, 1);
  await engine.query(
    `insert into delivery_attempts
      select subscription_id, delivery_id, n, workspace_id, started_at, duration_ms, url,
        request_headers, status, response_headers, response_body, error
      from delivery_attempts, generate_series(2, 51) n
      where subscription_id = $1 and delivery_id = $2`,
    [subscription.id, id],
  );
  const shown = await beckon.call(`/subscriptions/${subscription.id}/deliveries/${id}`);
  expect(shown.body.data.attempts_log.map(({ number }: { number: number }) => number)).toEqual(
    Array.from({ length: 50 }, (_, index) => 51 - index),
  );
});

test("deleting a run empties its deliveries and cancels those that are pending", async () => {
  receiver.respond = ({ body }, response) =>
    response.writeHead(body.type === "run.finished" ? 500 : 200).end("echo");
  const subscription = await subscribed();
  const { run_id: runId } = (await beckon.invoke(await beckon.createAgent(), "Hello")).body;
  await eventually("the first attempts", async () => {
    const rows = await deliveriesOf(subscription);
    return rows.every(({ last_status }) => last_status !== null) ? true : undefined;
  });
  expect((await beckon.call(`/runs/${runId}`, { method: "DELETE" })).status).toBe(204);
  const rows = await deliveriesOf(subscription);
  expect(rows.map(({ status, data }) => [status, data])).toEqual([
    ["succeeded", null],
    ["cancelled", null],
  ]);
  const { rows: attempts } = await engine.query(
    "select response_body from delivery_attempts where subscription_id = $1",
    [subscription.id],
  );
  expect(attempts.map(({ response_body }) => response_body)).toEqual(["", ""]);
  receiver.respond = (_request, response) => response.writeHead(204).end();
});
