import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startReceiver } from "../../test/receiver.ts";
import { type SubscribeOptions, subscribe } from "../../test/subscribe.ts";
import { newSigningSecret } from "../deliveries/index.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const receiver = await startReceiver();
afterAll(() => receiver.close());
beforeEach(async () => {
  await engine.query("update subscriptions set deleted_at = now() where deleted_at is null");
  receiver.received.length = 0;
});
const agent = await beckon.createAgent();
const callbackUrl = `${receiver.origin}/callbacks/1?token=x`;
const headers = { "beckon-callback": callbackUrl };

const subscribed = (options: Partial<SubscribeOptions> = {}) =>
  subscribe(engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["agent.paused"],
    ...options,
  });

/** Waits until the run has ended, and returns its deliveries. */
async function deliveriesAfterEnd(runId: string): Promise<unknown> {
  await eventually("the end of the run", async () => {
    const { finished_at } = (await beckon.call(`/runs/${runId}`)).body.data;
    return finished_at === null ? undefined : true;
  });
  return (await beckon.call(`/runs/${runId}/deliveries`)).body.data;
}

describe("the header beckon-callback", () => {
  test("sends the run's final event to its URL, signed by the oldest subscription, without its extra headers", async () => {
    const { id, secret } = await subscribed({ headers: { authorization: "Bearer x" } });
    await subscribed();
    const { run_id: runId } = (await beckon.invoke(agent, "Hello", headers)).body;
    const [delivery] = await receiver.awaitCount(1);
    if (delivery === undefined) throw new Error("nothing was received");
    expect(delivery.path).toBe("/callbacks/1?token=x");
    expect(delivery.headers.authorization).toBeUndefined();
    expect(delivery.body).toMatchObject({
      type: "run.finished",
      data: { run_id: runId, subscription_id: id, payload: { output: expect.anything() } },
    });
    new Webhook(secret).verify(delivery.text, {
      "webhook-id": delivery.id,
      "webhook-timestamp": String(delivery.headers["webhook-timestamp"]),
      "webhook-signature": String(delivery.headers["webhook-signature"]),
    });
    const { rows } = await engine.query(
      "select kind, subscription_id, callback_url, seq from deliveries where run_id = $1",
      [runId],
    );
    expect(rows).toEqual([
      { kind: "callback", subscription_id: id, callback_url: callbackUrl, seq: expect.any(Number) },
    ]);
  });

  test("is rejected without an enabled subscription of that origin that covers the agent", async () => {
    const other = await beckon.createAgent();
    for (const options of [
      undefined,
      { status: "paused" },
      { agentIds: [other.id] },
      { url: receiver.url.replace("http:", "https:") },
      { url: "http://127.0.0.1:1/" },
    ] as const) {
      await engine.query("update subscriptions set deleted_at = now() where deleted_at is null");
      if (options !== undefined) await subscribed(options);
      const answer = await beckon.invoke(agent, "Hello", headers);
      expectError(answer, 400, "bad_request");
      expect(answer.body.error).toMatch(/No enabled subscription that covers this agent/);
    }
    await subscribed({ agentIds: [agent.id, other.id] });
    expect((await beckon.invoke(agent, "Hello", headers)).status).toBe(200);
    // Otherwise the next test could receive this delivery.
    await receiver.awaitCount(1);
  });

  test.each(["ftp://example.com/", "not a url", "https://user@example.com/", "https://a/#b"])(
    "is rejected if it is %s",
    async (url) => {
      const answer = await beckon.invoke(agent, "Hello", { "beckon-callback": url });
      expectError(answer, 400, "bad_request");
      expect(answer.body.error).toMatch(/^beckon-callback must be/);
    },
  );

  test.each([
    ["UTF-8", Buffer.from("é").toString("latin1")],
    ["Latin-1", "é"],
  ])("is rejected if it has %s bytes other than ASCII", async (_, name) => {
    await subscribed();
    const url = `${receiver.origin}/${name}`;
    const answer = await beckon.invoke(agent, "Hello", { "beckon-callback": url });
    expectError(answer, 400, "bad_request", /^beckon-callback has .*Percent-encode/);
  });

  test("belongs to what an Idempotency-Key is bound to", async () => {
    await subscribed();
    const key = { "idempotency-key": "one" };
    const first = await beckon.invoke(agent, "Hello", { ...headers, ...key });
    const again = await beckon.invoke(agent, "Hello", { ...headers, ...key });
    expect([again.status, again.body.run_id]).toEqual([200, first.body.run_id]);
    for (const changed of [key, { ...key, "beckon-callback": `${callbackUrl}2` }])
      expectError(await beckon.invoke(agent, "Hello", changed), 422, "idempotency_mismatch");
    await receiver.awaitCount(1);
  });

  test("is accepted by triggers that allow it only", async () => {
    await subscribed();
    const closed = await beckon.createTrigger(agent.id);
    const fire = (url: string) => beckon.call(url, { credential: null, body: "Hello", headers });
    const rejected = await fire(closed.url);
    expectError(rejected, 400, "bad_request");
    expect(rejected.body.error).toMatch(/allows no callbacks/);
    const path = `/agents/${agent.id}/triggers/${closed.id}`;
    const changed = await beckon.call(path, { method: "PATCH", body: { allows_callback: true } });
    expect(changed.body.data.allows_callback).toBe(true);
    expect((await fire(closed.url)).status).toBe(200);
    const [delivery] = await receiver.awaitCount(1);
    expect(delivery?.path).toBe("/callbacks/1?token=x");
    expect((await beckon.call(path)).body.data.allows_callback).toBe(true);
  });

  test("is not sent if its subscription is deleted before the run ends", async () => {
    const { id } = await subscribed();
    const model = await startHeldModel(beckon);
    const held = await beckon.createAgent({ model: model.model });
    const { body } = await beckon.invoke(held, "Hello", { ...headers, prefer: "respond-async" });
    await model.reached(1);
    expect((await beckon.call(`/subscriptions/${id}`, { method: "DELETE" })).status).toBe(204);
    model.release();
    expect(await deliveriesAfterEnd(body.run_id)).toEqual([]);
  });

  test("is not sent if its subscription's URL has another origin when the run ends", async () => {
    const { id } = await subscribed();
    const moved = await startReceiver();
    onTestFinished(() => moved.close());
    const model = await startHeldModel(beckon);
    const held = await beckon.createAgent({ model: model.model });
    const { body } = await beckon.invoke(held, "Hello", { ...headers, prefer: "respond-async" });
    await model.reached(1);
    const changed = await beckon.call(`/subscriptions/${id}`, {
      method: "PATCH",
      body: { url: moved.url, secret: newSigningSecret() },
    });
    expect(changed.status).toBe(200);
    model.release();
    const attempt = await eventually("an attempt", async () => {
      const { rows } = await engine.query(
        `select a.error from delivery_attempts a join deliveries d on d.id = a.delivery_id
          where d.run_id = $1`,
        [body.run_id],
      );
      return rows[0];
    });
    expect(attempt).toEqual({ error: expect.stringMatching(/another origin.* Nothing was sent/) });
    expect([receiver.received, moved.received]).toEqual([[], []]);
  });

  test("is not sent for the replay of a request that named it", async () => {
    await subscribed();
    const paused = await beckon.createAgent();
    const trigger = await beckon.createTrigger(paused.id, { receiving: {}, allows_callback: true });
    await beckon.call(`/agents/${paused.id}/pause`, { method: "POST" });
    const sent = await beckon.call(trigger.url, { credential: null, body: "Hello", headers });
    expectError(sent, 409, "agent_paused");
    await beckon.call(`/agents/${paused.id}/resume`, { method: "POST" });
    const requests = `/agents/${paused.id}/triggers/${trigger.id}/requests`;
    const [{ id: requestId }] = (await beckon.call(requests)).body.data;
    const replay = await beckon.call(`${requests}/${requestId}/replay`, { method: "POST" });
    expect(replay.status).toBe(201);
    expect(await deliveriesAfterEnd(replay.body.data.id)).toEqual([]);
  });

  test("also reports a run that is created already failed", async () => {
    await subscribed();
    const limited = await beckon.createAgent();
    const ceiling = await beckon.call(`/limits/agent/${limited.id}`, {
      method: "PUT",
      body: { limit_micros: 1 },
    });
    expect(ceiling.status).toBeLessThan(300);
    await engine.query("update budgets set spent = allowed where scope_id = $1", [limited.id]);
    const answer = await beckon.invoke(limited, "Hello", headers);
    expect(answer.body.code).toBe("ceiling_reached");
    const [delivery] = await receiver.awaitCount(1);
    expect(delivery?.body).toMatchObject({
      type: "run.failed",
      data: { run_id: answer.body.run_id, seq: 1 },
    });
  });
});
