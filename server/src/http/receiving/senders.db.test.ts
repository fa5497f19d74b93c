import { createHmac } from "node:crypto";
import type { Receiving } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";
import {
  cloudEvent,
  exampleOf,
  githubEvents,
  type Sender,
  type SentRequest,
  senders,
} from "../../../test/senders.ts";
import { presets } from "../../receiving/index.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();

interface Trigger {
  readonly id: string;
  readonly url: string;
}

function settingsOf(preset: string): Receiving {
  const found = presets.find(({ name }) => name === preset);
  if (found === undefined) throw new Error(`There is no preset ${preset}`);
  return found.receiving;
}

/** Creates a trigger with the settings of a preset and, unless it is undefined, a secret. */
async function triggerOf(
  preset: string,
  secret: string | undefined,
  more: Partial<Receiving> = {},
  verify_token?: string,
): Promise<Trigger> {
  const receiving = { ...settingsOf(preset), ...more };
  const trigger = await beckon.createTrigger(agent.id, { receiving });
  if (secret !== undefined) {
    const path = `/agents/${agent.id}/triggers/${trigger.id}/secret`;
    const answer = await beckon.call(path, {
      body: { secret, ...(verify_token === undefined ? {} : { verify_token }) },
    });
    expect(answer.status).toBe(200);
  }
  return trigger;
}

/** Sends a request. Unless it names another type in `Accept`, the response is JSON. */
const deliver = (
  { url }: Trigger,
  { query, headers, body }: Omit<SentRequest, "body"> & { readonly body: string | Buffer },
) =>
  beckon.call(url + query, {
    method: "POST",
    credential: null,
    headers: { accept: "application/json", ...headers },
    body,
  });

const fresh = (
  sender: Sender,
  { url }: Trigger,
  more: Partial<Parameters<Sender["send"]>[0]> = {},
) => sender.send({ url, secret: sender.secret, sentAt: new Date(), eventId: "event-1", ...more });

/** Returns the headers with which Slack signs a body. */
function signedAsSlack(secret: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
}

function withoutHeaders(request: SentRequest, names: readonly string[]): SentRequest {
  const headers = Object.entries(request.headers).filter(([name]) => !names.includes(name));
  return { ...request, headers: Object.fromEntries(headers) };
}

/** Returns what is stored of the requests of a trigger, oldest first. */
async function storedOf({ id }: Trigger) {
  const { rows } = await beckon.db.database.engine.query<{
    outcome: string;
    headers: Record<string, string> | null;
    query: string | null;
    body: Buffer | null;
    run_id: string | null;
    size: number;
  }>(
    "select outcome, headers, query, body, run_id, size from received_requests where trigger_id = $1 order by id",
    [id],
  );
  return rows;
}

/** Returns all runs of a trigger. */
async function runsOf({ id }: Trigger): Promise<{ id: string; input: string }[]> {
  const runs: { id: string; input: string }[] = [];
  for (let after = ""; ; ) {
    const { body } = await beckon.call(`/runs?trigger_id=${id}&limit=200${after}`);
    runs.push(...body.data);
    if (body.next === null) return runs;
    after = `&after=${encodeURIComponent(body.next)}`;
  }
}

function runIdOf({ status, body }: Answer): string {
  expect([status, body]).toEqual([200, { ok: true, run_id: expect.stringMatching(/^run_/) }]);
  return body.run_id;
}

describe.each(senders)("$name", (sender) => {
  test("a signed event starts a run, and its secrets are not stored", async () => {
    const trigger = await triggerOf(sender.preset, sender.secret);
    const request = await fresh(sender, trigger);
    const runId = runIdOf(await deliver(trigger, request));
    const [stored, ...others] = await storedOf(trigger);
    expect(others).toEqual([]);
    expect(stored).toMatchObject({
      outcome: "started",
      run_id: runId,
      size: Buffer.byteLength(request.body),
    });
    expect(stored?.body?.toString()).toBe(request.body);
    for (const name of sender.signatureHeaders) expect(stored?.headers).not.toHaveProperty(name);
    expect((await runsOf(trigger)).map(({ id }) => id)).toEqual([runId]);
  });

  test("what is altered, too old, or signed with no or another secret gets 401 and leaves no body", async () => {
    const trigger = await triggerOf(sender.preset, sender.secret);
    const request = await fresh(sender, trigger);
    const another = sender.secret.startsWith("whsec_")
      ? `whsec_${Buffer.alloc(24, 9).toString("base64")}`
      : "another:secret";
    const rejected: (Omit<SentRequest, "body"> & { body: string | Buffer })[] = [
      withoutHeaders(request, sender.signatureHeaders),
      await fresh(sender, trigger, { secret: another }),
    ];
    if (sender.signs !== "nothing") {
      rejected.push({ ...request, body: `${request.body} ` }, { ...request, body: "" });
    }
    if (sender.signs === "time") {
      // More than the maximum of `tolerance_seconds`, a day.
      rejected.push(await fresh(sender, trigger, { sentAt: new Date(Date.now() - 90_000_000) }));
      rejected.push(await fresh(sender, trigger, { sentAt: new Date(Date.now() + 90_000_000) }));
    }
    for (const each of rejected) expectError(await deliver(trigger, each), 401, "unauthorized");
    expect(await runsOf(trigger)).toEqual([]);
    const stored = await storedOf(trigger);
    expect(stored.length).toBe(rejected.length);
    for (const each of stored) {
      expect(each).toMatchObject({
        outcome: "invalid_signature",
        body: null,
        headers: null,
        query: null,
        run_id: null,
      });
    }
  });
});

describe.each(senders.filter(({ preset }) => settingsOf(preset).event_id !== null))(
  "$name",
  (sender) => {
    test("a repeated event, signed again, gets the run of the first one", async () => {
      const trigger = await triggerOf(sender.preset, sender.secret);
      const runIds: string[] = [];
      for (const seconds of [2, 1, 0]) {
        const sentAt = new Date(Date.now() - seconds * 1_000);
        runIds.push(runIdOf(await deliver(trigger, await fresh(sender, trigger, { sentAt }))));
      }
      expect(new Set(runIds).size).toBe(1);
      const other = await fresh(sender, trigger, { eventId: "event-2" });
      expect(runIdOf(await deliver(trigger, other))).not.toBe(runIds[0]);
      expect((await runsOf(trigger)).length).toBe(2);
      expect((await storedOf(trigger)).map(({ outcome }) => outcome)).toEqual([
        "started",
        "repeated",
        "repeated",
        "started",
      ]);
    });
  },
);

test("without a secret, a trigger that verifies rejects every request", async () => {
  for (const sender of senders) {
    const trigger = await triggerOf(sender.preset, undefined);
    const answer = await deliver(trigger, await fresh(sender, trigger));
    expectError(answer, 401, "unauthorized", /has no secret/);
    expect(await runsOf(trigger)).toEqual([]);
  }
});

test("while a secret is rotated, both are accepted until the grace period is over", async () => {
  const sender = senders[0];
  if (sender === undefined) throw new Error("no sender");
  const trigger = await triggerOf("github", "first secret");
  const path = `/agents/${agent.id}/triggers/${trigger.id}/secret`;
  await beckon.call(path, { body: { secret: "second secret", grace_seconds: 600 } });
  for (const [secret, eventId] of [
    ["first secret", "a"],
    ["second secret", "b"],
  ] as const) {
    runIdOf(await deliver(trigger, await fresh(sender, trigger, { secret, eventId })));
  }
  // The process keeps the settings that it has read until the version changes.
  await beckon.db.database.engine.query(
    `update triggers set previous_sender_secret_until = now() - interval '1 second',
      receiving_version = receiving_version + 1 where id = $1`,
    [trigger.id],
  );
  const late = await fresh(sender, trigger, { secret: "first secret", eventId: "c" });
  expectError(await deliver(trigger, late), 401, "unauthorized");
  await beckon.call(path, { body: { secret: "third secret" } });
  for (const secret of ["first secret", "second secret"]) {
    const request = await fresh(sender, trigger, { secret, eventId: "c" });
    expectError(await deliver(trigger, request), 401, "unauthorized");
  }
});

describe("GitHub", () => {
  test("all payloads of its documentation start one run each, which sees the event's name", async () => {
    // The preset's filter excludes `ping`, which is one of these payloads.
    const trigger = await triggerOf("github", "secret", { filter: null });
    const { sign } = await import("@octokit/webhooks-methods");
    const deliveries = githubEvents().flatMap(({ name, examples }) =>
      examples.map((example, index) => ({
        name,
        id: `${name}-${index}`,
        body: JSON.stringify(example),
      })),
    );
    expect(deliveries.length).toBe(329);
    const deliverAll = () =>
      inParallel(deliveries, async ({ name, id, body }) => {
        const headers = {
          "content-type": "application/json",
          "user-agent": "GitHub-Hookshot/044aadd",
          "x-github-event": name,
          "x-github-delivery": id,
          "x-hub-signature-256": await sign("secret", body),
        };
        return runIdOf(await deliver(trigger, { query: "", headers, body }));
      });
    const first = await deliverAll();
    expect(await deliverAll()).toEqual(first);
    expect(new Set(first).size).toBe(329);
    const inputs = new Map((await runsOf(trigger)).map(({ id, input }) => [id, input]));
    expect(inputs.size).toBe(329);
    deliveries.forEach(({ name, body }, index) => {
      expect(inputs.get(first[index] ?? "")).toBe(`x-github-event: ${name}\n\n${body}`);
    });
  });

  test("the event that it sends when a webhook is added starts no run", async () => {
    const [sender] = senders;
    if (sender === undefined) throw new Error("no sender");
    const trigger = await triggerOf("github", sender.secret);
    const { query, headers, body } = await fresh(sender, trigger);
    const ping = { query, headers: { ...headers, "x-github-event": "ping" }, body };
    expect((await deliver(trigger, ping)).status).toBe(202);
    expect(await storedOf(trigger)).toMatchObject([{ outcome: "filtered" }]);
    // A request without a type is no ping.
    runIdOf(
      await deliver(trigger, withoutHeaders(await fresh(sender, trigger), ["x-github-event"])),
    );
  });

  test("the same delivery at the same time is one run", async () => {
    const sender = senders[0];
    if (sender === undefined) throw new Error("no sender");
    const trigger = await triggerOf("github", sender.secret);
    const request = await fresh(sender, trigger);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(trigger, request)));
    expect(new Set(answers.map(runIdOf)).size).toBe(1);
    expect((await runsOf(trigger)).length).toBe(1);
  });
});

/** Calls `work` for all items, eight at a time. Returns the results in the order of the items. */
async function inParallel<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  const queue = items.entries();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const [index, item] of queue) results[index] = await work(item);
    }),
  );
  return results;
}

describe("CloudEvents", () => {
  test.each(["binary", "structured"] as const)("as the SDK sends them, %s", async (mode) => {
    const trigger = await triggerOf("cloudevents", undefined);
    const runId = runIdOf(await deliver(trigger, cloudEvent(mode, "event-1")));
    expect(runIdOf(await deliver(trigger, cloudEvent(mode, "event-1")))).toBe(runId);
    expect(runIdOf(await deliver(trigger, cloudEvent(mode, "event-2")))).not.toBe(runId);
    const [run] = await runsOf(trigger);
    expect(run?.input).toContain("com.example.order.created");
    expect(run?.input).toContain('"order":123');
  });

  test("the same event in another mode is the same event", async () => {
    const trigger = await triggerOf("cloudevents", undefined);
    const runId = runIdOf(await deliver(trigger, cloudEvent("binary", "event-1")));
    expect(runIdOf(await deliver(trigger, cloudEvent("structured", "event-1")))).toBe(runId);
  });
});

describe("handshakes", () => {
  const get = (trigger: Trigger, query: string) =>
    beckon.call(`${trigger.url}${query}`, { credential: null });
  const options = async (trigger: Trigger, headers: Record<string, string>) => {
    const response = await fetch(trigger.url, { method: "OPTIONS", headers });
    await response.arrayBuffer();
    return response;
  };

  test("Meta's is answered with the right verify token only", async () => {
    const trigger = await triggerOf("meta", "app secret", {}, "verify-token");
    const query = "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=verify-token";
    const answer = await get(trigger, query);
    expect([answer.status, answer.body]).toEqual([200, "1158201444"]);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const today = await get(await beckon.createTrigger(agent.id), query);
    const wrong = await get(trigger, query.replace("verify-token", "other"));
    expect([wrong.status, wrong.body.code]).toEqual([today.status, today.body.code]);
  });

  test("Dropbox's is answered, but never with markup", async () => {
    const trigger = await triggerOf("dropbox", "app secret");
    expect((await get(trigger, "?challenge=abc-1.2")).body).toBe("abc-1.2");
    const markup = await get(trigger, "?challenge=%3Cscript%3Ealert(1)%3C/script%3E");
    expect([markup.status, JSON.stringify(markup.body)]).toEqual([
      405,
      expect.not.stringContaining("script"),
    ]);
  });

  test("Slack's is answered after its signature, and starts no run", async () => {
    const sender = senders.find(({ preset }) => preset === "slack");
    if (sender === undefined) throw new Error("no sender");
    const trigger = await triggerOf("slack", sender.secret);
    const body = JSON.stringify({
      token: "t",
      challenge: "3eZbrw1aBm2r",
      type: "url_verification",
    });
    const request = {
      query: "",
      body,
      headers: { "content-type": "application/json", ...signedAsSlack(sender.secret, body) },
    };
    const answer = await deliver(trigger, request);
    expect([answer.status, answer.body]).toEqual([200, "3eZbrw1aBm2r"]);
    const unsigned = withoutHeaders(request, ["x-slack-signature"]);
    expectError(await deliver(trigger, unsigned), 401, "unauthorized");
    expect(await runsOf(trigger)).toEqual([]);
  });

  test("CloudEvents' is answered only if the sender names its origin", async () => {
    const trigger = await triggerOf("cloudevents", undefined, { max_per_minute: 100 });
    const response = await options(trigger, {
      "webhook-request-origin": "eventgrid.azure.net",
      "webhook-request-rate": "120",
    });
    expect([
      response.status,
      response.headers.get("webhook-allowed-origin"),
      response.headers.get("webhook-allowed-rate"),
    ]).toEqual([200, "eventgrid.azure.net", "100"]);
    const preflight = await options(trigger, { origin: "https://example.com" });
    expect([preflight.status, preflight.headers.get("webhook-allowed-origin")]).toEqual([
      204,
      null,
    ]);
  });
});

function senderOf(preset: string): Sender {
  const sender = senders.find((each) => each.preset === preset);
  if (sender === undefined) throw new Error("no sender");
  return sender;
}

test("Linear's last retry, the same bytes 7 hours later, starts the run, and a later one no other", async () => {
  const trigger = await triggerOf("linear", senderOf("linear").secret);
  const sentAt = new Date(Date.now() - (60 + 3_600 + 6 * 3_600) * 1_000);
  const request = await fresh(senderOf("linear"), trigger, { sentAt });
  const runId = runIdOf(await deliver(trigger, request));
  expect(runIdOf(await deliver(trigger, request))).toBe(runId);
  expect(await runsOf(trigger)).toHaveLength(1);
});

describe("responses that senders need", () => {
  const emptyTwiml = '<?xml version="1.0" encoding="UTF-8"?><Response/>';

  test.each([
    ["dropbox", 200],
    ["linear", 200],
    ["meta", 200],
    ["github", 202],
    ["slack", 202],
  ])("an event of %s that the filter does not let pass gets %d", async (preset, status) => {
    const trigger = await triggerOf(preset, senderOf(preset).secret, { filter: "false" });
    const answer = await deliver(trigger, await fresh(senderOf(preset), trigger));
    expect([answer.status, answer.body]).toEqual([status, { ok: true, skipped: true }]);
  });

  test.each([
    ["started", null],
    ["filtered", "false"],
  ])("Twilio gets TwiML without commands for a request that is %s", async (outcome, filter) => {
    const sender = senderOf("twilio");
    const trigger = await triggerOf("twilio", sender.secret, { filter });
    const { headers, ...request } = await fresh(sender, trigger);
    const answer = await deliver(trigger, { ...request, headers: { ...headers, accept: "*/*" } });
    expect([answer.status, answer.headers.get("content-type"), answer.body]).toEqual([
      200,
      "text/xml",
      emptyTwiml,
    ]);
    expect((await storedOf(trigger)).map((row) => row.outcome)).toEqual([outcome]);
  });

  test.each([
    ["started", null],
    ["filtered", "false"],
  ])("Slack gets an empty response for a slash command that is %s", async (outcome, filter) => {
    const { secret } = senderOf("slack");
    const trigger = await triggerOf("slack", secret, { filter });
    const { headers, body } = exampleOf("slack", "slash command");
    const answer = await deliver(trigger, {
      query: "",
      headers: { ...headers, accept: "application/json,*/*", ...signedAsSlack(secret, body) },
      body,
    });
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    expect((await storedOf(trigger)).map((row) => row.outcome)).toEqual([outcome]);
  });

  test("a request without the user and password of a trigger gets a challenge (RFC 9110)", async () => {
    const trigger = await triggerOf("basic", senderOf("basic").secret);
    const answer = await deliver(trigger, { ...exampleOf("basic"), query: "" });
    expectError(answer, 401, "unauthorized");
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="Beckon", charset="UTF-8"');
  });
});
