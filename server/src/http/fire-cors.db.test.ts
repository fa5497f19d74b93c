import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const origin = { origin: "https://forms.example.com" };

test("a CORS preflight allows fires from any origin", async () => {
  const { status, headers } = await beckon.call(trigger.url, {
    method: "OPTIONS",
    credential: null,
    headers: {
      ...origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
  });
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-methods")).toContain("POST");
  expect(headers.get("access-control-allow-headers")?.split(", ")).toEqual([
    "content-type",
    "idempotency-key",
    "webhook-id",
    "beckon-external-id",
    "beckon-tags",
    "beckon-callback",
  ]);
  expect(headers.has("access-control-allow-credentials")).toBe(false);
});

test("OPTIONS is answered the same for an unknown trigger, and starts nothing", async () => {
  const ask = (url: string) =>
    beckon.call(url, { method: "OPTIONS", credential: null, headers: origin });
  const [known, unknown] = await Promise.all([
    ask(trigger.url),
    ask(`${beckon.url}/api/public/triggers/bkt_unknown`),
  ]);
  expect([unknown.status, unknown.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
  expect(known.headers.get("allow")).toBe(unknown.headers.get("allow"));
});

test.each([
  ["an accepted fire", "POST", trigger.url, "Hello", {}, 200],
  [
    "a body of an unsupported content type",
    "POST",
    trigger.url,
    "Hello",
    { "content-type": "image/png" },
    415,
  ],
  ["an empty body", "POST", trigger.url, "", {}, 400],
  ["a body that is too large", "POST", trigger.url, "x".repeat(1_048_577), {}, 413],
  ["an unknown trigger", "POST", `${beckon.url}/api/public/triggers/bkt_unknown`, "Hello", {}, 401],
  ["a wrong method", "GET", trigger.url, undefined, {}, 405],
])(
  "a page of any origin can read the response to %s",
  async (_, method, url, body, headers, expected) => {
    const answer = await beckon.call(url, {
      method,
      credential: null,
      body,
      headers: { ...origin, ...headers },
    });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      expected,
      "*",
    ]);
    const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(["beckon-request-id", "idempotency-replayed", "retry-after"]);
  },
);

test("no other path allows pages of other origins", async () => {
  const asked = await beckon.call("/agents", {
    method: "OPTIONS",
    credential: null,
    headers: origin,
  });
  const read = await beckon.call("/agents", { headers: origin });
  expect([asked.status, asked.headers.has("access-control-allow-origin")]).toEqual([405, false]);
  expect(read.headers.has("access-control-allow-origin")).toBe(false);
});
