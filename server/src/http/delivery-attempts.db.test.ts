import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { type Received, startReceiver } from "../../test/receiver.ts";
import { type Subscribed, type SubscribeOptions, subscribe } from "../../test/subscribe.ts";

/** Seconds to wait before each attempt, counted from the attempt before. */
const schedule = [0, 0.3, 0.6];
const timeoutMs = 3_000;

const beckon = await startTestBeckon(
  { BECKON_RETRY_SCHEDULE: schedule.join() },
  {
    deliveries: {
      timeoutMs,
      sweepMs: 100,
      maxPending: 20,
      maxFailingSeconds: 3_600,
      testHooks: { resolve: async () => ["127.0.0.1"] },
    },
  },
);
const { engine } = beckon.db.database;
const receiver = await startReceiver();
const other = await startReceiver();
afterAll(() => Promise.all([receiver.close(), other.close()]));
const accept = (_request: Received, response: ServerResponse) => response.writeHead(204).end();
beforeEach(async () => {
  await engine.query("update subscriptions set deleted_at = now() where deleted_at is null");
  receiver.received.length = 0;
  receiver.respond = accept;
  other.received.length = 0;
});
const agent = await beckon.createAgent();

const subscribed = (options: Partial<SubscribeOptions> = {}) =>
  subscribe(engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["run.finished"],
    ...options,
  });
const deliveriesOf = async ({ id }: Subscribed) =>
  (await engine.query("select * from deliveries where subscription_id = $1 order by id", [id]))
    .rows;
const attemptsOf = async ({ id }: Subscribed) =>
  (
    await engine.query(
      "select * from delivery_attempts where subscription_id = $1 order by delivery_id, number",
      [id],
    )
  ).rows;
const subscriptionOf = async ({ id }: Subscribed) =>
  (await engine.query("select * from subscriptions where id = $1", [id])).rows[0];
/** Waits until the first attempt is recorded, and returns it. */
const firstAttempt = (subscription: Subscribed) =>
  eventually("an attempt", async () => (await attemptsOf(subscription))[0]);
const finished = (subscription: Subscribed) =>
  eventually("the end of the delivery", async () => {
    const [row] = await deliveriesOf(subscription);
    return row !== undefined && row.status !== "pending" ? row : undefined;
  });
const invoke = () => beckon.invoke(agent, "Hello");
/**
 * Simulates that all attempts have failed for two hours, which is above the limit. Then causes one
 * more delivery, which the receiver must reject, and waits until the subscription is disabled.
 */
async function failTooLong(subscription: Subscribed): Promise<void> {
  await engine.query(
    `update subscriptions set failing_since = now() - interval '2 hours' where id = $1`,
    [subscription.id],
  );
  await invoke();
  await eventually("the subscription's end", async () =>
    (await subscriptionOf(subscription)).disabled_reason === "failing" ? true : undefined,
  );
}

describe("the schedule", () => {
  test("repeats a delivery with the same id and body and a fresh timestamp until it is accepted", async () => {
    receiver.respond = (_request, response) =>
      response.writeHead(receiver.received.length < 3 ? 500 : 200).end("a body");
    const subscription = await subscribed();
    await invoke();
    const received = await receiver.awaitCount(3);
    expect(await finished(subscription)).toMatchObject({ status: "succeeded", attempts: 3 });
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
    for (const { headers, at } of received)
      expect(Math.abs(Number(headers["webhook-timestamp"]) - at / 1_000)).toBeLessThan(15);
    for (const [index, seconds] of schedule.entries()) {
      const [earlier, later] = [received[index - 1], received[index]];
      if (earlier === undefined || later === undefined) continue;
      expect(later.at - earlier.at).toBeGreaterThanOrEqual(seconds * 900 - 5);
      expect(later.at - earlier.at).toBeLessThan(seconds * 1_100 + 10_000);
    }
    expect(await attemptsOf(subscription)).toMatchObject([
      { number: 1, status: 500, error: "The receiver responded with status 500." },
      { number: 2, status: 500, response_body: "a body" },
      { number: 3, status: 200, error: null },
    ]);
    expect(await subscriptionOf(subscription)).toMatchObject({
      status: "enabled",
      failing_since: null,
      last_error: null,
    });
  });

  test("ends with its last attempt", async () => {
    receiver.respond = (_request, response) => response.writeHead(404).end();
    const subscription = await subscribed();
    await invoke();
    expect(await finished(subscription)).toMatchObject({ status: "failed", attempts: 3 });
    expect(receiver.received).toHaveLength(3);
    expect((await subscriptionOf(subscription)).failing_since).not.toBeNull();
  });

  test.each([
    ["429, in seconds", 429, () => "20"],
    ["503, as a date", 503, () => new Date(Date.now() + 20_000).toUTCString()],
  ])("waits as long as Retry-After of a %s", async (_name, status, retryAfter) => {
    receiver.respond = (_request, response) =>
      response.writeHead(status, { "retry-after": retryAfter() }).end();
    const subscription = await subscribed();
    await invoke();
    await firstAttempt(subscription);
    const [delivery] = await deliveriesOf(subscription);
    const delayMs = delivery.next_at - Date.now();
    expect(delayMs).toBeGreaterThan(10_000);
    expect(delayMs).toBeLessThan(21_000);
  });
});

describe("Retry-After", () => {
  /** Returns a subscription whose first event got this response, and what arrives afterwards. */
  async function delayed(status: number, retryAfter: string) {
    receiver.respond = (_request, response) =>
      response.writeHead(status, { "retry-after": retryAfter }).end();
    const subscription = await subscribed();
    await invoke();
    await firstAttempt(subscription);
    receiver.respond = accept;
    receiver.received.length = 0;
    // When the second event arrives at another receiver, the sender has claimed what is due.
    await subscribed({ url: other.url });
    await invoke();
    await other.awaitCount(1);
    return `/subscriptions/${subscription.id}`;
  }

  test.each([429, 503])("of a %i delays all events until then", async (status) => {
    const path = await delayed(status, "20");
    const { health } = (await beckon.call(path)).body.data;
    const delayMs = Date.parse(health.next_attempt_at) - Date.now();
    expect(delayMs).toBeGreaterThan(10_000);
    expect(delayMs).toBeLessThan(21_000);
    const { data: pending } = (await beckon.call(`${path}/deliveries?status=pending`)).body;
    expect(pending[0]).toMatchObject({ attempts: 0, next_attempt_at: health.next_attempt_at });
    expect(receiver.received).toEqual([]);
    await engine.query("update subscriptions set not_before = now() where not_before > now()");
    await receiver.awaitCount(1);
  });

  test("delays no test, and events only until a test succeeds", async () => {
    const path = await delayed(429, "20");
    await beckon.call(`${path}/test`, { body: {} });
    const received = await receiver.awaitCount(2);
    expect(received.map(({ body }) => body.data.test)).toEqual([true, undefined]);
  });

  test("delays events for at most 24 hours, and no longer when the URL is sent again", async () => {
    const path = await delayed(429, "1000000000");
    const { health } = (await beckon.call(path)).body.data;
    const delayMs = Date.parse(health.next_attempt_at) - Date.now();
    expect(delayMs).toBeGreaterThan(23 * 3_600_000);
    expect(delayMs).toBeLessThan(25 * 3_600_000);
    expect(receiver.received).toEqual([]);
    await beckon.call(path, { method: "PATCH", body: { url: receiver.url } });
    await receiver.awaitCount(1);
  });

  test("of a 500 delays no other event, because it is about one request", async () => {
    await delayed(500, "20");
    await receiver.awaitCount(1);
  });
});

describe("an attempt in progress", () => {
  test("when its run is deleted is logged without what the receiver repeats", async () => {
    const responses: ServerResponse[] = [];
    receiver.respond = (_request, response) => responses.push(response);
    const subscription = await subscribed();
    const { run_id: runId } = (await invoke()).body;
    const [{ text } = { text: "" }] = await receiver.awaitCount(1);
    await beckon.call(`/runs/${runId}`, { method: "DELETE" });
    expect(await finished(subscription)).toMatchObject({ status: "cancelled" });
    for (const response of responses) response.writeHead(200).end(text);
    expect(await firstAttempt(subscription)).toMatchObject({ status: 200, response_body: "" });
    expect(await finished(subscription)).toMatchObject({ status: "succeeded", data: null });
  });
});

describe("a change of the payload while a delivery is pending", () => {
  test.each([
    ["thin", "full"],
    ["full", "thin"],
  ] as const)("from %s to %s changes the next attempt", async (before, after) => {
    const subscription = await subscribed({ payload: before });
    receiver.respond = async (_request, response) => {
      const isFirst = receiver.received.length === 1;
      if (isFirst)
        await beckon.call(`/subscriptions/${subscription.id}`, {
          method: "PATCH",
          body: { payload: after },
        });
      response.writeHead(isFirst ? 500 : 204).end();
    };
    await invoke();
    const received = await receiver.awaitCount(2);
    const outputOf = { full: "Hello", thin: undefined };
    expect(received.map(({ body }) => body.data.payload?.output)).toEqual([
      outputOf[before],
      outputOf[after],
    ]);
    const { id } = await finished(subscription);
    const shown = await beckon.call(`/subscriptions/${subscription.id}/deliveries/${id}`);
    expect(shown.body.data.body).toBe(received[1]?.text);
  });
});

describe("a response", () => {
  test("of 301 fails, and the redirect is not followed", async () => {
    receiver.respond = (_request, response) =>
      response.writeHead(301, { location: other.url }).end();
    const subscription = await subscribed();
    await invoke();
    expect(await firstAttempt(subscription)).toMatchObject({
      status: 301,
      error: expect.stringMatching(/Redirects are not followed/),
    });
    expect(await finished(subscription)).toMatchObject({ status: "failed" });
    expect(other.received).toEqual([]);
  });

  test("of 410 disables the subscription with one event, and what is pending is not sent", async () => {
    receiver.respond = (_request, response) => response.writeHead(410).end();
    const subscription = await subscribed();
    const watcher = await subscribed({ url: other.url, eventTypes: ["subscription.disabled"] });
    await Promise.all([invoke(), invoke()]);
    const [event] = await other.awaitCount(1);
    expect(event?.body.data.payload).toEqual({
      subscription_id: subscription.id,
      url: receiver.url,
      reason: "gone",
    });
    expect(await subscriptionOf(subscription)).toMatchObject({
      status: "disabled",
      disabled_reason: "gone",
      version: 2,
    });
    await invoke();
    const statuses = await eventually("closed deliveries", async () => {
      const found = (await deliveriesOf(subscription)).map(({ status }) => status);
      return found.length === 3 && !found.includes("pending") ? found : undefined;
    });
    expect(statuses).toContain("failed");
    expect(statuses.at(-1)).toBe("not_sent");
    expect(await deliveriesOf(watcher)).toHaveLength(1);
  });

  test("of 410 from an earlier URL does not disable the subscription", async () => {
    const subscription = await subscribed();
    const url = `${receiver.url}-moved`;
    receiver.respond = async (request, response) => {
      if (!url.endsWith(request.path)) {
        await engine.query(
          "update subscriptions set url = $2, version = version + 1 where id = $1",
          [subscription.id, url],
        );
        response.writeHead(410);
      }
      response.end();
    };
    await invoke();
    expect(await finished(subscription)).toMatchObject({ status: "failed", last_status: 410 });
    await invoke();
    await receiver.awaitCount(1, ({ path }) => url.endsWith(path));
    expect(await subscriptionOf(subscription)).toMatchObject({ status: "enabled", version: 2 });
  });

  test("of 410 to an attempt from before a resume does not disable the subscription", async () => {
    const subscription = await subscribed();
    const path = `/subscriptions/${subscription.id}`;
    receiver.respond = async (_request, response) => {
      for (const change of ["pause", "resume"])
        await beckon.call(`${path}/${change}`, { method: "POST" });
      response.writeHead(410).end();
    };
    await invoke();
    expect(await firstAttempt(subscription)).toMatchObject({ status: 410 });
    receiver.respond = (_request, response) => response.writeHead(410).end();
    await invoke();
    await receiver.awaitCount(2);
    const disabled = await eventually("the subscription is disabled", async () => {
      const row = await subscriptionOf(subscription);
      return row.status === "disabled" ? row : undefined;
    });
    // The pause, the resume, and the 410 of the second delivery.
    expect(disabled).toMatchObject({ disabled_reason: "gone", version: 4 });
  });

  test("that never ends counts by its status, and its connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    receiver.respond = (_request, response) => {
      response.writeHead(200).on("close", closed.resolve);
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
      };
      response.on("drain", write);
      write();
    };
    const subscription = await subscribed();
    await invoke();
    expect(await finished(subscription)).toMatchObject({ status: "succeeded", last_status: 200 });
    await closed.promise;
    expect((await firstAttempt(subscription)).response_body).toBe("x".repeat(4_096));
  });

  test("that repeats the request is stored without the subscription's secret headers", async () => {
    receiver.respond = ({ headers }, response) =>
      response
        .writeHead(200, { "x-authorization": String(headers.authorization) })
        .end(JSON.stringify(headers));
    const subscription = await subscribed({ headers: { authorization: "Bearer open-sesame" } });
    await invoke();
    const attempt = await firstAttempt(subscription);
    expect(attempt.response_headers).toMatchObject({ "x-authorization": "[secret]" });
    expect(attempt.response_body).toMatch(/"authorization":"\[secret\]"/);
    expect(attempt.response_body).not.toContain("sesame");
  });

  test("that is longer than what is stored has no part of a secret at the end", async () => {
    receiver.respond = ({ headers }, response) =>
      response.end(`${"x".repeat(4_090)}${headers["x-key"]}`);
    const subscription = await subscribed({ headers: { "x-key": "open-sesame" } });
    await invoke();
    expect((await firstAttempt(subscription)).response_body).toBe(`${"x".repeat(4_090)}[secret]`);
  });

  test("whose body stalls counts by its status when the time is over", async () => {
    receiver.respond = (_request, response) => response.writeHead(200).write("beginning");
    const subscription = await subscribed();
    await invoke();
    expect(await finished(subscription)).toMatchObject({ status: "succeeded" });
    expect(await firstAttempt(subscription)).toMatchObject({ response_body: "beginning" });
  });

  test("with an encoded body or a NUL in it is accepted", async () => {
    receiver.respond = (_request, response) =>
      response
        .writeHead(200, receiver.received.length === 1 ? { "content-encoding": "gzip" } : {})
        .end("a\0b");
    const subscription = await subscribed();
    await invoke();
    await invoke();
    await receiver.awaitCount(2);
    const attempts = await eventually("two attempts", async () => {
      const found = await attemptsOf(subscription);
      return found.length === 2 ? found : undefined;
    });
    expect(attempts.map(({ response_body }) => response_body).sort()).toEqual(["", "a\ufffdb"]);
  });

  test.each<readonly [string, (response: ServerResponse) => unknown, RegExp]>([
    ["that does not arrive in time", () => {}, /did not respond within 3 seconds/],
    ["that is a reset", (response) => response.socket?.resetAndDestroy(), /closed the connection/],
    [
      "with huge headers",
      (response) => response.writeHead(200, { "x-huge": "x".repeat(40_000) }).end(),
      /more than 16 KiB of headers/,
    ],
    [
      "that is not HTTP",
      (response) => response.socket?.end("SSH-2.0-OpenSSH_9.6\r\n"),
      /not valid HTTP/,
    ],
  ])("%s fails", async (_name, respond, error) => {
    receiver.respond = (_request, response) => respond(response);
    const subscription = await subscribed();
    await invoke();
    expect(await firstAttempt(subscription)).toMatchObject({
      status: null,
      error: expect.stringMatching(error),
    });
  });
});

describe("a receiver", () => {
  test("without TLS at an https URL fails", async () => {
    const subscription = await subscribed({ url: receiver.url.replace("http:", "https:") });
    await invoke();
    expect(await firstAttempt(subscription)).toMatchObject({
      status: null,
      error: expect.stringMatching(/TLS connection to the receiver failed/),
    });
    expect(receiver.received).toEqual([]);
  });

  test.each([
    ["with a private address", "http://127.0.0.2:8080/hook"],
    ["whose name resolves to a private address when it is called", "http://receiver.test:80/hook"],
  ])("%s is never dialled", async (_name, url) => {
    const subscription = await subscribed({ url });
    await invoke();
    expect(await firstAttempt(subscription)).toMatchObject({
      status: null,
      error: expect.stringMatching(/was not called: its host is not a public address/),
    });
  });

  test("of which every attempt failed for too long is disabled", async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const subscription = await subscribed();
    await failTooLong(subscription);
    const { rows } = await engine.query("select action, actor, data from audit where target = $1", [
      subscription.id,
    ]);
    expect(rows).toEqual([
      { action: "subscription.disable", actor: "system", data: { reason: "failing" } },
    ]);
  });

  test("that fails again after a long time without attempts stays enabled", async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const subscription = await subscribed();
    await engine.query(
      `update subscriptions set failing_since = now() - interval '3 hours',
          last_failure_at = now() - interval '2 hours' where id = $1`,
      [subscription.id],
    );
    await invoke();
    await finished(subscription);
    const { status, failing_since } = await subscriptionOf(subscription);
    expect(status).toBe("enabled");
    expect(Date.now() - failing_since).toBeLessThan(3_600_000);
  });

  test("that is corrected before the resume has missed what failed before and what was not sent", async () => {
    receiver.respond = (_request, response) => response.writeHead(500).end();
    const subscription = await subscribed();
    await invoke();
    await finished(subscription);
    await failTooLong(subscription);
    const path = `/subscriptions/${subscription.id}`;
    await beckon.call(path, { method: "PATCH", body: { url: `${receiver.url}-corrected` } });
    const { body } = await beckon.call(`${path}/resume`, { method: "POST" });
    expect(body.data.missed.deliveries).toBe(2);
  });

  test("with a backlog above the limit is disabled, and later events are not sent", async () => {
    receiver.respond = () => {};
    const subscription = await subscribed();
    await Promise.all(Array.from({ length: 30 }, invoke));
    await eventually("the subscription's end", async () =>
      (await subscriptionOf(subscription)).disabled_reason === "backlog" ? true : undefined,
    );
    await invoke();
    const rows = await eventually("closed deliveries", async () => {
      const found = await deliveriesOf(subscription);
      return found.every(({ status }) => status !== "pending") ? found : undefined;
    });
    expect(rows.at(-1)).toMatchObject({ status: "not_sent", data: null });
  });

  test("whose callbacks are above the limit stays enabled, and some of them fail", async () => {
    receiver.respond = () => {};
    const subscription = await subscribed({ eventTypes: ["agent.paused"] });
    const headers = { "beckon-callback": receiver.url };
    await Promise.all(Array.from({ length: 30 }, () => beckon.invoke(agent, "Hello", headers)));
    await eventually("a callback that failed", async () =>
      (await deliveriesOf(subscription)).some(
        ({ status, last_error }) =>
          status === "failed" &&
          last_error === "More than 20 deliveries of this kind were pending.",
      )
        ? true
        : undefined,
    );
    expect(await subscriptionOf(subscription)).toMatchObject({ status: "enabled" });
  });
});
