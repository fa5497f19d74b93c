import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { maxReceivedBytes, type Receiving } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const everything = { multipart: true, xml: true, ndjson: true, csv: true, gzip: true };

type Settings = Omit<Partial<Receiving>, "bodies"> & { bodies?: Partial<Receiving["bodies"]> };

async function triggerOf(receiving: Settings): Promise<string> {
  return (await beckon.createTrigger(agent.id, { receiving })).url;
}

const accepting = await triggerOf({ bodies: everything });

const send = (
  url: string,
  body: string | Buffer,
  type: string | undefined,
  headers: Record<string, string> = {},
) =>
  beckon.call(url, {
    method: "POST",
    credential: null,
    body,
    headers: type === undefined ? headers : { "content-type": type, ...headers },
  });

async function inputOf(...request: Parameters<typeof send>): Promise<string> {
  const { status, body } = await send(...request);
  expect([status, body]).toEqual([200, { ok: true, run_id: expect.any(String) }]);
  return (await beckon.call(`/runs/${body.run_id}`)).body.data.input;
}

test.each([
  ["XML", "application/xml", '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
  ["NDJSON", "application/x-ndjson", '{"a":1}\n{"a":2}\n'],
  ["CSV", "application/csv", "a,b\r\n1,2\r\n"],
  ["JSON", json, '{"a": 1.0}'],
])("%s is passed on byte for byte", async (_, type, body) => {
  expect(await inputOf(accepting, body, type)).toBe(body);
});

test("an event whose id is in a body of the type text/json starts one run", async () => {
  const url = await triggerOf({ event_id: { pointer: "/id" } });
  const [first, second] = [1, 2].map((attempt) => JSON.stringify({ id: "one", attempt }));
  const { body } = await send(url, first ?? "", "text/json");
  expect((await send(url, second ?? "", "text/json")).body).toEqual(body);
});

test("compressed JSON is inflated, and the signature is of the bytes as they were sent", async () => {
  const text = JSON.stringify({ text: "x".repeat(10_000) });
  const trigger = await beckon.createTrigger(agent.id, {
    receiving: {
      bodies: { gzip: true },
      verification: {
        kind: "hmac",
        header: "x-signature",
        algorithm: "sha256",
        encoding: "hex",
        signed: ["body"],
      },
    },
  });
  await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}/secret`, { body: { secret: "s" } });
  const body = gzipSync(text);
  const signature = createHmac("sha256", "s").update(body).digest("hex");
  const headers = { "content-encoding": "gzip", "x-signature": signature };
  expect(await inputOf(trigger.url, body, json, headers)).toBe(text);
  const ofText = createHmac("sha256", "s").update(text).digest("hex");
  const answer = await send(trigger.url, body, json, { ...headers, "x-signature": ofText });
  expectError(answer, 401, "unauthorized");
});

test("files of a form become artifacts of the run, which sees their names, types and sizes", async () => {
  const data = new FormData();
  data.append("subject", "Invoice");
  data.append("file", new File(["%PDF-1.7"], "invoice.pdf", { type: "application/pdf" }));
  data.append("file", new File(["<script>"], "../x.html", { type: "text/html" }));
  const request = new Request("http://x.test", { method: "POST", body: data });
  const body = Buffer.from(await request.arrayBuffer());
  const type = request.headers.get("content-type") ?? "";
  const { body: answer } = await send(accepting, body, type);
  const run = (await beckon.call(`/runs/${answer.run_id}`)).body.data;
  const { subject, file } = JSON.parse(run.input);
  expect(subject).toBe("Invoice");
  expect(file).toEqual([
    { name: "invoice.pdf", type: "application/pdf", size: 8, id: expect.stringMatching(/^art_/) },
    { name: "x.html", type: "text/html", size: 8, id: expect.stringMatching(/^art_/) },
  ]);
  const contents = await Promise.all(
    file.map(async ({ id }: { id: string }) => {
      const response = await fetch(
        `${beckon.url}/api/public/runs/${answer.run_id}/artifacts/${id}`,
        { headers: { "x-api-key": beckon.key } },
      );
      return [response.status, await response.text()];
    }),
  );
  expect(contents).toEqual([
    [200, "%PDF-1.7"],
    [200, "<script>"],
  ]);
});

test("the retry of a form's run has copies of its files, also if a limit fails it and it is retried", async () => {
  const { id } = await beckon.createAgent();
  const { url } = await beckon.createTrigger(id, { receiving: { bodies: everything } });
  const data = new FormData();
  data.append("file", new File(["%PDF-1.7"], "invoice.pdf", { type: "application/pdf" }));
  const request = new Request("http://x.test", { method: "POST", body: data });
  const type = request.headers.get("content-type") ?? "";
  const body = Buffer.from(await request.arrayBuffer());
  const setLimit = async (limit_micros: number) => {
    await beckon.call(`/limits/agent/${id}`, { method: "PUT", body: { limit_micros } });
    await beckon.db.database.engine.query("update budgets set spent = 10 where scope_id = $1", [
      id,
    ]);
  };
  const retry = (runId: string) => beckon.call(`/runs/${runId}/retry`, { method: "POST" });
  const { run_id } = (await send(url, body, type)).body;
  await setLimit(10);
  const unstored = (await send(url, body, type)).body.run_id;
  const failed = (await retry(run_id)).body.run_id;
  await setLimit(1_000_000);
  expectError(await retry(unstored), 409, "conflict", /files/);
  const retried = (await retry(failed)).body.data;
  const fileIds: string[] = [];
  for (const runId of [run_id, failed, retried.id]) {
    const { input } = (await beckon.call(`/runs/${runId}`)).body.data;
    const fileId = JSON.parse(input).file.id;
    fileIds.push(fileId);
    const path = `/api/public/runs/${runId}/artifacts/${fileId}`;
    const file = await fetch(`${beckon.url}${path}`, { headers: { "x-api-key": beckon.key } });
    expect(await file.text()).toBe("%PDF-1.7");
  }
  expect(new Set(fileIds).size).toBe(3);
});

test("a form that is sent again with its Idempotency-Key and another boundary is a repeat", async () => {
  const sent = async (content: string, boundary: string) => {
    const data = new FormData();
    data.append("subject", "Invoice");
    data.append("file", new File([content], "invoice.pdf", { type: "application/pdf" }));
    data.append("file", new File(["2"], "second.pdf", { type: "application/pdf" }));
    const request = new Request("http://x.test", { method: "POST", body: data });
    const own = /boundary=(.*)$/.exec(request.headers.get("content-type") ?? "")?.[1] ?? "";
    const body = (await request.text()).replaceAll(own, boundary);
    const headers = { "idempotency-key": "one form" };
    return send(accepting, body, `multipart/form-data; boundary=${boundary}`, headers);
  };
  const first = await sent("%PDF-1.7", "one");
  expect(first.status).toBe(200);
  expect((await sent("%PDF-1.7", "another")).body).toEqual(first.body);
  expectError(await sent("%PDF-1.8", "one"), 422, "idempotency_mismatch");
});

test("a text that is compressed again with other bytes is a repeat", async () => {
  const sent = (text: string, level: number) =>
    send(accepting, gzipSync(text, { level }), json, {
      "content-encoding": "gzip",
      "idempotency-key": "one text",
    });
  const text = JSON.stringify({ text: "x".repeat(10_000) });
  const first = await sent(text, 1);
  expect(first.status).toBe(200);
  expect((await sent(text, 9)).body).toEqual(first.body);
  expectError(await sent(`${text} `, 1), 422, "idempotency_mismatch");
});

describe("hostile bodies", () => {
  const part = (disposition: string) =>
    `--x\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n1\r\n`;

  test("a zip bomb is rejected", async () => {
    const bomb = Buffer.concat(Array(500).fill(gzipSync(Buffer.alloc(1_048_576))));
    const answer = await send(accepting, bomb, json, { "content-encoding": "gzip" });
    expectError(answer, 413, "too_large", /after it is inflated/);
  });

  test.each([
    ["10,000 fields", Array(10_000).fill("a=1").join("&"), form, /more than 1,000 fields/],
    [
      "10,000 fields in parts",
      `${part('name="a"').repeat(10_000)}--x--\r\n`,
      "multipart/form-data; boundary=x",
      /more than 1,000 fields/,
    ],
    [
      "1,000 files",
      `${part('name="a"; filename="f"').repeat(1_000)}--x--\r\n`,
      "multipart/form-data; boundary=x",
      /more than 100 files/,
    ],
    ["deep JSON", "[".repeat(100_000), json, /more than 200 levels/],
    ["a form without end", part('name="a"'), "multipart/form-data; boundary=x", /not complete/],
  ])("%s: rejected with a clear error", async (_, body, type, message) => {
    expectError(await send(accepting, body, type), 400, "bad_request", message);
  });

  test("a form that repeats one name 300,000 times does not block a trigger without settings", async () => {
    const { url } = await beckon.createTrigger(agent.id);
    const started = performance.now();
    const input = await inputOf(url, Array(300_000).fill("a=").join("&"), form);
    expect(JSON.parse(input).a.length).toBe(300_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("a flood of headers is rejected before the trigger is read", async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, n) => [`x-header-${n}`, "x".repeat(20)]),
    );
    const answer = await send(accepting, "{}", json, headers).catch(() => undefined);
    expect(answer === undefined || answer.status === 431).toBe(true);
    expect(await inputOf(accepting, "still here", "text/plain")).toBe("still here");
  });

  test("NUL in a form or JSON does not reach the run", async () => {
    const url = await triggerOf({ template: "[{{ payload.a }}]" });
    expect(await inputOf(url, '{"a":"x\\u0000y"}', json)).not.toContain("\u0000");
    expect(await inputOf(url, "a=x%00y", form)).not.toContain("\u0000");
  });
});

describe("large bodies", () => {
  test("25 MiB are accepted with a message template, and one byte more is not", async () => {
    const url = await triggerOf({
      bodies: { ...everything, max_bytes: maxReceivedBytes },
      template: "{{ payload.name }}",
    });
    const body = JSON.stringify({ name: "big", text: "" });
    const padded = body.replace('""', `"${"x".repeat(maxReceivedBytes - body.length)}"`);
    expect(await inputOf(url, padded, json)).toBe("big");
    expectError(await send(url, `${padded} `, json), 413, "too_large", /25 MiB/);
    const inflated = gzipSync(`${padded} `);
    const answer = await send(url, inflated, json, { "content-encoding": "gzip" });
    expectError(answer, 413, "too_large", /25 MiB\) after it is inflated/);
  });

  test("a body that can never fit in the memory of the server gets 413, which says what to raise", async () => {
    // Of 96 MiB, requests and responses get 30 MiB, of which one workspace can use 22.5 MiB. Each
    // byte of a body counts six times, so bodies of up to 3.75 MiB fit.
    const small = await beckon.another({ settings: { BECKON_MEMORY_BUDGET_MIB: "96" } });
    try {
      const { token } = await beckon.createTrigger(agent.id, {
        receiving: {
          bodies: { gzip: true, max_bytes: maxReceivedBytes },
          template: "{{ payload | size }}",
        },
      });
      const url = `${small.url}/api/public/triggers/${token}`;
      const tooLarge = await send(url, "x".repeat(10_000_000), "text/plain");
      expectError(tooLarge, 413, "too_large", /BECKON_MEMORY_BUDGET_MIB/);
      expect((await send(url, "x".repeat(2_000_000), "text/plain")).status).toBe(200);
      const bomb = gzipSync(Buffer.alloc(20_000_000, "x"));
      const inflated = await send(url, bomb, "text/plain", { "content-encoding": "gzip" });
      expectError(inflated, 413, "too_large", /BECKON_MEMORY_BUDGET_MIB/);
    } finally {
      await small.stop();
    }
  });

  test("a preview, a test and a replay get 503 while the server cannot hold the inflated body", async () => {
    const receiving = {
      bodies: { gzip: true, max_bytes: maxReceivedBytes },
      template: "{{ payload | size }}",
    };
    const trigger = await beckon.createTrigger(agent.id, { receiving });
    const bomb = gzipSync(Buffer.alloc(2_500_000, "x"));
    await send(trigger.url, bomb, "text/plain", { "content-encoding": "gzip" });
    const path = `/agents/${agent.id}/triggers/${trigger.id}`;
    const [stored] = (await beckon.call(`${path}/requests`)).body.data;
    const request = { request_id: stored.id };
    // Of 96 MiB, requests and responses get 30 MiB. Each byte of a body counts six times: the
    // upload holds 17 MiB, and the preview needs 15 MiB. They do not fit together.
    const small = await beckon.another({ settings: { BECKON_MEMORY_BUDGET_MIB: "96" } });
    const upload = httpRequest(`${small.url}/api/public/triggers/${trigger.token}`, {
      method: "POST",
      headers: { "content-type": "text/plain", "content-length": "3000000" },
    });
    try {
      upload.on("error", () => {}).write("x".repeat(2_900_000));
      const post = (rest: string, body: object) =>
        beckon.call(`${small.url}/api/public${path}${rest}`, { body });
      const preview = () => post("/preview", { request });
      await expect.poll(async () => (await preview()).status, { timeout: 30_000 }).toBe(503);
      for (const answer of [
        await preview(),
        await post("/test", { request }),
        await post(`/requests/${stored.id}/replay`, {}),
      ]) {
        expectError(answer, 503, "unavailable", /as many large request bodies as it can hold/);
        expect(answer.headers.get("retry-after")).toBe("1");
      }
      upload.destroy();
      await expect.poll(async () => (await preview()).status, { timeout: 30_000 }).toBe(200);
    } finally {
      upload.destroy();
      await small.stop();
    }
  });

  test("without a template, more than 1 MiB cannot be set", async () => {
    const answer = await beckon.call(`/agents/${agent.id}/triggers`, {
      body: { name: "Big", receiving: { bodies: { max_bytes: 1_048_577 } } },
    });
    expectError(answer, 400, "bad_request", /template/);
  });
});
