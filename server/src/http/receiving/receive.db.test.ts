import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { expectError } from "../../../test/expect-error.ts";
import { rawExchange } from "../../../test/raw-exchange.ts";
import {
  createReceiving,
  type ReceivingTrigger,
  type SettingsChange,
  signedAsGithub,
  unverified,
} from "../../../test/receiving-trigger.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;

const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;
const create = async (
  change: SettingsChange = {},
  options: Parameters<typeof createReceiving>[3] = {},
) => createReceiving(beckon, (await beckon.createAgent()).id, change, options);
const outcomesOf = async (trigger: ReceivedOf) =>
  (await trigger.requests()).map(({ outcome }) => outcome);
type ReceivedOf = Pick<ReceivingTrigger, "requests">;
const fields = (body: Record<string, string>) => ({
  body: new URLSearchParams(body).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

test("a signed event starts a run whose agent sees the event's name, and is stored", async () => {
  const trigger = await create(
    { headers: ["x-github-event"], query: ["source"] },
    { prefix: "An event:" },
  );
  const { status, body } = await trigger.send(
    { zen: "Keep it logically awesome." },
    { "x-github-event": "ping", "x-github-delivery": "delivery-1" },
    "?source=tests",
  );
  expect({ status, body }).toEqual({
    status: 200,
    body: { ok: true, run_id: expect.stringMatching(/^run_/) },
  });
  expect(await runOf(body.run_id)).toMatchObject({
    source: "trigger",
    trigger_id: trigger.id,
    input:
      'An event:\n\nx-github-event: ping\nsource: tests\n\n{"zen":"Keep it logically awesome."}',
  });
  const [request] = await trigger.requests();
  expect(request).toMatchObject({
    outcome: "started",
    error: null,
    event_id: "delivery-1",
    event_type: "ping",
    run_id: body.run_id,
    query: "source=tests",
    size: 36,
    body: Buffer.from('{"zen":"Keep it logically awesome."}'),
  });
  expect(request?.headers).toMatchObject({ "x-github-event": "ping" });
  expect(Object.keys(request?.headers ?? {})).not.toContain("x-hub-signature-256");
});

test("a token that a proxy repeats in a header is neither stored nor shown to the agent", async () => {
  const trigger = await create({ headers: ["x-original-url"] }, { prefix: "An event:" });
  const { pathname } = new URL(trigger.url);
  const { body } = await trigger.send(
    { a: 1 },
    {
      "x-original-url": `${pathname}?source=tests`,
      referer: `https://beckon.example${pathname}, https://beckon.example${pathname}/`,
    },
  );
  const [request] = await trigger.requests();
  expect(request?.headers).toMatchObject({
    "x-original-url": "/api/public/triggers/[secret]?source=tests",
    referer:
      "https://beckon.example/api/public/triggers/[secret], https://beckon.example/api/public/triggers/[secret]/",
  });
  expect((await runOf(body.run_id)).input).toBe(
    'An event:\n\nx-original-url: /api/public/triggers/[secret]?source=tests\n\n{"a":1}',
  );
});

test.each([
  [
    "altered",
    signedAsGithub("{}"),
    "The signature in x-hub-signature-256 is not valid. Check that sender and trigger have the same secret.",
  ],
  [
    "unsigned",
    { "x-hub-signature-256": "" },
    "The header x-hub-signature-256 has no signature in the form that this trigger expects. Check its settings.",
  ],
])(
  "an %s request gets 401 and leaves the reason, neither body nor headers",
  async (_, headers, error) => {
    const trigger = await create();
    const { status, body } = await trigger.send({ a: 1 }, headers, "?a=1");
    expect({ status, body }).toEqual({
      status: 401,
      body: { ok: false, error, code: "unauthorized" },
    });
    expect(await trigger.requests()).toMatchObject([
      {
        outcome: "invalid_signature",
        error,
        event_id: null,
        event_type: null,
        run_id: null,
        query: null,
        headers: null,
        body: null,
        size: 7,
      },
    ]);
  },
);

test("of the requests with an invalid signature 60 a minute are stored, all are counted, and none counts as a failed authentication", async () => {
  const trigger = await create();
  const sent = 400;
  const answers = await Promise.all(
    Array.from({ length: sent }, () => trigger.send({}, { "x-hub-signature-256": "sha256=00" })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  const { rows } = await engine.query<{ minutes: number; count: number }>(
    `select count(*)::int as minutes, sum(count)::int as count from request_counts
      where trigger_id = $1 and outcome = 'invalid_signature'`,
    [trigger.id],
  );
  expect(rows[0]?.count).toBe(sent);
  const stored = (await trigger.requests()).length;
  expect(stored).toBeGreaterThanOrEqual(60);
  expect(stored).toBeLessThanOrEqual(60 * (rows[0]?.minutes ?? 0));
});

test("unverified requests that are rejected do not use up what a minute stores of the verified ones", async () => {
  const trigger = await create({ bodies: { max_bytes: 1_024 } });
  await Promise.all(Array.from({ length: 200 }, () => trigger.send("x".repeat(2_048))));
  await beckon.call(`/agents/${trigger.agentId}/pause`, { method: "POST" });
  expect((await trigger.send({ a: 1 })).status).toBe(409);
  const requests = await trigger.requests();
  expect(requests.filter(({ body }) => body === null).length).toBeGreaterThanOrEqual(60);
  expect(requests.filter(({ body }) => body !== null)).toMatchObject([
    { outcome: "rejected", body: Buffer.from('{"a":1}') },
  ]);
});

test("a filter that fails at a value which the database cannot store gives a failed run", async () => {
  const trigger = await create({ filter: "int(payload.count) > 1" });
  for (const count of ["a\0b", "a\ud800b", `${"a".repeat(984)}\u{1f600}`]) {
    const { status, body } = await trigger.send({ count });
    expect(status).toBe(200);
    const { error } = await runOf(body.run_id);
    expect(error.code).toBe("mapping_error");
    expect(error.message).toMatch(/Cannot convert a+/);
    expect(error.message.isWellFormed()).toBe(true);
  }
});

test("a trigger without its secret rejects every request", async () => {
  const trigger = await create();
  await engine.query(
    "update triggers set sender_secret = null, receiving_version = receiving_version + 1 where id = $1",
    [trigger.id],
  );
  expect((await trigger.send({})).status).toBe(401);
});

test("an event that is sent again gets its first run, whatever its body is and whatever happened to the run", async () => {
  const trigger = await create();
  const id = { "x-github-delivery": "same" };
  const first = await trigger.send({ try: 1 }, id);
  expect(first.headers.has("idempotency-replayed")).toBe(false);
  await eventually("the end of the run", async () =>
    (await runOf(first.body.run_id)).finished_at === null ? undefined : true,
  );
  await beckon.call(`/runs/${first.body.run_id}`, { method: "DELETE" });
  const again = await trigger.send({ try: 2 }, id);
  expect(again).toMatchObject({ status: 200, body: first.body });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(await trigger.requests()).toMatchObject([
    // The content of the request was deleted with the run.
    { outcome: "started", run_id: first.body.run_id, body: null, headers: null, query: null },
    { outcome: "repeated", run_id: first.body.run_id, body: null },
  ]);
});

test("webhook-id is the Idempotency-Key only if the settings locate no event id", async () => {
  const id = { "webhook-id": "msg_1" };
  const located = await create();
  const one = await located.send({}, id);
  expect((await located.send({}, id)).body.run_id).not.toBe(one.body.run_id);
  const other = await create({ event_id: null });
  const two = await other.send({}, id);
  expect((await other.send({}, id)).body).toEqual(two.body);
  expect((await other.send({ a: 1 }, id)).body.code).toBe("idempotency_mismatch");
});

test("an Idempotency-Key keeps its rule beside the event id", async () => {
  const trigger = await create();
  const key = { "idempotency-key": "k" };
  const first = await trigger.send({}, { ...key, "x-github-delivery": "1" });
  const second = await trigger.send({}, { ...key, "x-github-delivery": "2" });
  expect(second.body).toEqual(first.body);
  const other = await trigger.send({ a: 1 }, { ...key, "x-github-delivery": "3" });
  expect(other.status).toBe(422);
  // The rejected event does not count as received, so it starts a run when it is sent without the
  // Idempotency-Key.
  const third = await trigger.send({ a: 1 }, { "x-github-delivery": "3" });
  expect(third).toMatchObject({ status: 200 });
  expect(third.body.run_id).not.toBe(first.body.run_id);
  expect(await trigger.requests()).toMatchObject([
    { outcome: "started", event_id: "1", run_id: first.body.run_id },
    { outcome: "repeated", event_id: "2", run_id: first.body.run_id },
    { outcome: "rejected", event_id: "3" },
    { outcome: "started", event_id: "3", run_id: third.body.run_id },
  ]);
});

test("a filtered event gets 202 and is stored, and starts a run when it is sent again with another filter", async () => {
  const trigger = await create({ filter: 'event.type == "push"', template: "{{ event.type }}!" });
  const id = { "x-github-delivery": "1", "x-github-event": "issues" };
  expect(await trigger.send({}, id)).toMatchObject({
    status: 202,
    body: { ok: true, skipped: true },
  });
  await trigger.set({ filter: null });
  const { body } = await trigger.send({}, id);
  expect(await runOf(body.run_id)).toMatchObject({ input: "issues!" });
  expect(await outcomesOf(trigger)).toEqual(["filtered", "started"]);
  await eventually("the end of the run", async () =>
    (await runOf(body.run_id)).finished_at === null ? undefined : true,
  );
  await beckon.call(`/runs/${body.run_id}`, { method: "DELETE" });
  const emptied = { body: null, headers: null, query: null };
  expect(await trigger.requests()).toMatchObject([emptied, emptied]);
});

test("if filter or template fail, the run is created failed, the sender gets 200, and the event can be sent again", async () => {
  const trigger = await create({ filter: "payload.missing.field == 1" });
  const id = { "x-github-delivery": "1" };
  const failed = await trigger.send({ a: 1 }, id);
  expect(failed.status).toBe(200);
  expect(await runOf(failed.body.run_id)).toMatchObject({
    status: "failed",
    input: '{"a":1}',
    error: { code: "mapping_error", message: expect.stringContaining("The filter of the trigger") },
  });
  await trigger.set({ filter: null });
  const started = await trigger.send({ a: 1 }, id);
  expect(started.body.run_id).not.toBe(failed.body.run_id);
  expect(await trigger.requests()).toMatchObject([
    { outcome: "mapping_error", run_id: failed.body.run_id, error: expect.any(String) },
    { outcome: "started", error: null },
  ]);
});

test("the run of a request that was not mapped is retried only with another input, which is then the event's run", async () => {
  const trigger = await create({ filter: "payload.missing.field == 1" });
  const id = { "x-github-delivery": "1" };
  const failed = await trigger.send({ a: 1 }, id);
  await trigger.set({ filter: null });
  const retry = (body: object) => beckon.call(`/runs/${failed.body.run_id}/retry`, { body });
  expectError(await retry({}), 409, "conflict", /requests\/:request_id\/replay/);
  const retried = await retry({ input: "Edited" });
  expect(retried.body.data).toMatchObject({ input: "Edited", retry_of: failed.body.run_id });
  expect((await trigger.send({ a: 1 }, id)).body.run_id).toBe(retried.body.data.id);
  expect(await outcomesOf(trigger)).toEqual(["mapping_error", "repeated"]);
});

test("an empty rendered message is a mapping error, an empty body without template is rejected", async () => {
  const trigger = await create({ template: "{{ payload.nothing }}" });
  const { status, body } = await trigger.send({});
  expect(status).toBe(200);
  expect(await runOf(body.run_id)).toMatchObject({ error: { code: "mapping_error" } });
  await trigger.set({ template: null });
  expect(await trigger.send("")).toMatchObject({ status: 400, body: { code: "bad_request" } });
  expect(await outcomesOf(trigger)).toEqual(["mapping_error", "rejected"]);
});

test("one verified request is captured as a sample, and the next one starts a run", async () => {
  const trigger = await create({ filter: "false" });
  await engine.query(
    "update triggers set listening_until = now() + interval '1 minute' where id = $1",
    [trigger.id],
  );
  expect((await trigger.send({}, { "x-hub-signature-256": "sha256=00" })).status).toBe(401);
  await trigger.set({ filter: null });
  const answers = await Promise.all([1, 2, 3].map((number) => trigger.send({ number })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 202]);
  expect((await outcomesOf(trigger)).sort()).toEqual([
    "captured",
    "invalid_signature",
    "started",
    "started",
  ]);
});

test("settings that change during a request apply to it", async () => {
  const trigger = await create();
  expect((await trigger.send({}, { "x-hub-signature-256": "" })).status).toBe(401);
  await trigger.set({ verification: { kind: "none" } });
  expect((await trigger.send({}, { "x-hub-signature-256": "" })).status).toBe(200);
  await trigger.set({ max_per_minute: 1 });
  expect([(await trigger.send({})).status, (await trigger.send({})).status]).toEqual([200, 429]);
  await trigger.set({ max_per_minute: 100 });
  expect((await trigger.send({})).status).toBe(200);
  await trigger.set({ allowed_addresses: ["192.0.2.1"] });
  expect(await trigger.send({})).toMatchObject({ status: 403, body: { code: "forbidden" } });
  await trigger.set({ allowed_addresses: ["127.0.0.0/8", "::1"] });
  expect((await trigger.send({})).status).toBe(200);
  await engine.query(
    "update triggers set receiving = null, receiving_version = receiving_version + 1 where id = $1",
    [trigger.id],
  );
  const before = (await trigger.requests()).length;
  expect((await trigger.send("Hello", { "content-type": "text/plain" })).status).toBe(200);
  expect(await trigger.requests()).toHaveLength(before);
});

test("a limit that was raised since the last request applies to the next one", async () => {
  const trigger = await create({ bodies: { max_bytes: 1_024 } }, { from: unverified });
  await trigger.send({});
  await trigger.set({ bodies: { max_bytes: 4_096 } });
  expect((await trigger.send({ text: "x".repeat(2_048) })).status).toBe(200);
  expect(await outcomesOf(trigger)).toEqual(["started", "started"]);
});

test("a request whose body is too large is stored with the size of its body", async () => {
  const trigger = await create({ bodies: { max_bytes: 1_024 } }, { from: unverified });
  expect((await trigger.send("x".repeat(2_048))).status).toBe(413);
  const claimed = await rawExchange(
    trigger.url,
    Buffer.from(
      `POST ${new URL(trigger.url).pathname} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 9000000000\r\n\r\n`,
    ),
  );
  expect(claimed.answers.map(({ status }) => status)).toEqual([413]);
  expect(await trigger.requests()).toMatchObject([
    { outcome: "rejected", size: 2_048 },
    { outcome: "rejected", size: 2_147_483_647 },
  ]);
});

test("requests above the limit get 429 with Retry-After, and unverified ones do not count", async () => {
  const trigger = await create({ max_per_minute: 2 });
  for (let count = 0; count < 3; count++)
    await trigger.send({}, { "x-hub-signature-256": "sha256=00" });
  expect([(await trigger.send({})).status, (await trigger.send({})).status]).toEqual([200, 200]);
  const { status, headers, body } = await trigger.send({});
  expect({ status, code: body.code }).toEqual({ status: 429, code: "too_many_requests" });
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(headers.get("ratelimit-policy")).toBe('"trigger-requests";q=2;w=60');
});

test("requests above the limit are stored without their body, and cannot be replayed", async () => {
  const trigger = await create({ max_per_minute: 1 });
  await trigger.send({ a: 1 });
  await trigger.send({ a: 2 });
  const requests = await trigger.requests();
  expect(requests).toMatchObject([
    { outcome: "started", body: Buffer.from('{"a":1}'), size: 7 },
    { outcome: "rejected", body: null, size: 7, error: expect.stringContaining("1 requests") },
  ]);
  const path = `/agents/${trigger.agentId}/triggers/${trigger.id}/requests/${requests[1]?.id}/replay`;
  const replay = await beckon.call(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expectError(replay, 409, "conflict", /not stored: .* above max_per_minute/);
});

test("a form is answered with a redirect or a text, or with JSON if Accept names JSON", async () => {
  const form = { answer: { redirect: "https://example.com/thanks" }, honeypot: "website" };
  const trigger = await create({ form }, { from: unverified });
  const post = (body: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(trigger.url, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(body),
      headers,
    });
  for (const website of ["", "https://spam.example"]) {
    const response = await post({ name: "Zoë", website });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("https://example.com/thanks");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  }
  expect(await outcomesOf(trigger)).toEqual(["started", "honeypot"]);
  const asJson = await post({ name: "Zoë", website: "" }, { accept: "application/json" });
  expect([asJson.status, await asJson.json()]).toEqual([
    200,
    { ok: true, run_id: expect.stringMatching(/^run_/) },
  ]);
  const skipped = await post({ website: "spam" }, { accept: "application/json" });
  expect([skipped.status, await skipped.json()]).toEqual([202, { ok: true, skipped: true }]);
  await trigger.set({ form: { answer: { text: "<script>alert(1)</script> & thanks" } } });
  const page = await post({ name: "a" });
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  const html = await page.text();
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; thanks");
  expect(html).not.toContain("<script>");
  await trigger.set({ form: { origins: ["https://example.com"], answer: null } });
  expect((await post({ name: "a" })).status).toBe(403);
  expect((await post({ name: "a" }, { origin: "https://evil.example" })).status).toBe(403);
  expect((await post({ name: "a" }, { origin: "https://example.com" })).status).toBe(200);
});

test("GET and OPTIONS are answered as for every trigger, except handshakes", async () => {
  const trigger = await create();
  const { url } = await beckon.createTrigger(trigger.agentId);
  const query = "?hub.mode=subscribe&hub.verify_token=t&hub.challenge=123&challenge=abc";
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    const asked = (of: string) =>
      fetch(`${of}${query}`, { method, headers: { "webhook-request-origin": "example.com" } });
    const [one, other] = [await asked(trigger.url), await asked(url)];
    const shown = ({ status, headers }: Response) => ({
      status,
      allow: headers.get("allow"),
      cors: headers.get("access-control-allow-origin"),
    });
    expect(shown(one)).toEqual(shown(other));
    expect(one.status).toBe(method === "OPTIONS" ? 204 : 405);
  }
  await trigger.set({ handshake: "dropbox" });
  const answered = await fetch(`${trigger.url}?challenge=abc-1`);
  expect([answered.status, await answered.text()]).toEqual([200, "abc-1"]);
  expect(answered.headers.get("content-type")).toMatch(/^text\/plain/);
  expect((await fetch(`${trigger.url}?challenge=<b>`)).status).toBe(405);
  await trigger.set({ handshake: "cloudevents" });
  const allowed = await fetch(trigger.url, {
    method: "OPTIONS",
    headers: { "webhook-request-origin": "example.com" },
  });
  expect(allowed.headers.get("webhook-allowed-origin")).toBe("example.com");
  expect((await fetch(trigger.url, { method: "OPTIONS" })).status).toBe(204);
});

test("files of a form become artifacts of the run, with their ids in the payload", async () => {
  const trigger = await create({ bodies: { multipart: true } }, { from: unverified });
  const form = new FormData();
  form.set("title", "A picture");
  form.set("picture", new Blob([Buffer.from([0, 255, 1])], { type: "image/png" }), "a.png");
  const response = await fetch(trigger.url, { method: "POST", body: form });
  const { run_id } = (await response.json()) as { run_id: string };
  const { rows } = await engine.query<{ id: string; content: Buffer }>(
    "select id, content from artifacts where run_id = $1 and media_type = 'image/png'",
    [run_id],
  );
  expect(rows[0]?.content).toEqual(Buffer.from([0, 255, 1]));
  expect(JSON.parse((await runOf(run_id)).input)).toEqual({
    title: "A picture",
    picture: { name: "a.png", type: "image/png", size: 3, id: rows[0]?.id },
  });
});

test("a body above 1 MiB is accepted with a template, and delays no other batch", async () => {
  const trigger = await create({
    bodies: { max_bytes: 8_388_608 },
    template: "{{ payload.text | size }}",
  });
  const { status, body } = await trigger.send({ text: "x".repeat(5_000_000) });
  expect(status).toBe(200);
  expect(await runOf(body.run_id)).toMatchObject({ input: "5000000" });
  const tooLarge = await trigger.send({ text: "x".repeat(9_000_000) });
  expect(tooLarge).toMatchObject({ status: 413, body: { code: "too_large" } });
  expect(await outcomesOf(trigger)).toEqual(["started", "rejected"]);
});

test("a rotated token starts nothing, and an unknown one counts as a failed authentication", async () => {
  const trigger = await create();
  expect((await trigger.send({})).status).toBe(200);
  await beckon.call(`/agents/${trigger.agentId}/triggers/${trigger.id}/rotate`, { method: "POST" });
  const { status, headers } = await trigger.send({}, { "x-hub-signature-256": "" });
  expect(status).toBe(401);
  expect(headers.get("ratelimit-policy")).toContain("failed-authentications");
  expect(await outcomesOf(trigger)).toEqual(["started"]);
});

test("a request whose honeypot field has a value gets 202 and starts no run", async () => {
  const trigger = await create({ form: { honeypot: "website" } }, { from: unverified });
  const statuses = [];
  for (const body of [{ website: "x" }, { website: "" }, { website: null }, ["website"], "website"])
    statuses.push((await trigger.send(body)).status);
  statuses.push(
    (await beckon.call(trigger.url, { credential: null, ...fields({ website: "spam" }) })).status,
  );
  expect(statuses).toEqual([202, 200, 200, 200, 400, 202]);
  const outcomes = ["honeypot", "started", "started", "started", "rejected", "honeypot"];
  expect(await outcomesOf(trigger)).toEqual(outcomes);
});
