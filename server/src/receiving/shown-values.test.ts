import { isCredentialHeader, receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { senders } from "../../test/senders.ts";
import { chosenHeaders, chosenQuery, presets, storedHeaders } from "./index.ts";

const stored = (headers: Record<string, string | string[]>, verification = {}) =>
  storedHeaders(receiving.parse({ verification: { kind: "none", ...verification } }), { headers });

test.each([
  "authorization",
  "proxy-authorization",
  "cookie",
  "cookie2",
  "set-cookie",
  "x-api-key",
  "apikey",
  "x-amz-security-token",
  "x-auth-token",
  "x-csrf-token",
  "x-goog-iap-jwt-assertion",
  "cf-access-jwt-assertion",
  "x-functions-key",
  "ocp-apim-subscription-key",
  "x-hub-signature",
  "x-hub-signature-256",
  "stripe-signature",
  "x-slack-signature",
  "x-shopify-hmac-sha256",
  "linear-signature",
  "x-twilio-signature",
  "webhook-signature",
  "svix-signature",
  "x-dropbox-signature",
  "x-gitlab-token",
  "x-webhook-secret",
  "x-telegram-bot-api-secret-token",
  "x-password",
])("%s is a header of credentials", (name) => {
  expect(isCredentialHeader(name)).toBe(true);
  expect(stored({ [name]: "secret" })).toEqual({});
  expect(receiving.safeParse({ headers: [name.toUpperCase()] }).success).toBe(false);
});

test.each([
  "content-type",
  "user-agent",
  "x-github-event",
  "x-github-delivery",
  "idempotency-key",
  "i-twilio-idempotency-token",
  "webhook-id",
  "webhook-timestamp",
  "x-slack-request-timestamp",
  "x-shopify-topic",
  "x-author",
  "ce-source",
])("%s is not", (name) => {
  expect(isCredentialHeader(name)).toBe(false);
  expect(stored({ [name]: "value" })).toEqual({ [name]: "value" });
});

test("the header of the trigger's own secret is not stored, whatever its name", () => {
  const headers = { "x-verify": "secret", "x-event": "push" };
  expect(stored(headers, { kind: "header", header: "X-Verify" })).toEqual({ "x-event": "push" });
});

test("no sender's secret or signature is stored", async () => {
  for (const sender of senders) {
    const settings = presets.find(({ name }) => name === sender.preset)?.receiving;
    if (settings === undefined) throw new Error(sender.name);
    const to = { url: "https://x.test", secret: sender.secret, sentAt: new Date(), eventId: "e" };
    const { headers } = await sender.send(to);
    const shown = storedHeaders(settings, { headers });
    for (const name of sender.signatureHeaders) expect(Object.keys(shown)).not.toContain(name);
    expect(Object.keys(shown).length).toBe(
      Object.keys(headers).length - sender.signatureHeaders.length,
    );
  }
});

test("every header that a preset shows to the agent can be shown", () => {
  for (const { receiving: settings } of presets) {
    const headers = Object.fromEntries(settings.headers.map((name) => [name, "value"]));
    expect(chosenHeaders(settings, { headers })).toEqual(headers);
  }
});

test("only a value as long as a trigger's token is replaced", () => {
  const token = `bkt_${"a-_9".repeat(12)}`;
  expect(stored({ "x-bucket": "bkt_prod", "x-path": `/${token}?a=1` })).toEqual({
    "x-bucket": "bkt_prod",
    "x-path": "/[secret]?a=1",
  });
});

test("headers with text that PostgreSQL cannot store are left out", () => {
  expect(stored({ a: "a\u0000", b: "b", c: ["c", "d"] })).toEqual({ b: "b", c: "c, d" });
});

test("the agent sees the chosen headers that are present, and own ones only", () => {
  const settings = receiving.parse({ headers: ["X-Event", "x-missing", "constructor"] });
  expect(chosenHeaders(settings, { headers: { "x-event": "push", "x-other": "1" } })).toEqual({
    "x-event": "push",
  });
});

test("the agent sees the chosen query parameters, all values of each", () => {
  const settings = receiving.parse({ query: ["a", "missing", "__proto__"] });
  const url = "https://x.test/t?a=1&b=2&a=x%20y&__proto__=p";
  expect(chosenQuery(settings, { url })).toEqual(
    Object.fromEntries([
      ["a", "1, x y"],
      ["__proto__", "p"],
    ]),
  );
  expect(chosenQuery(settings, { url: "https://x.test/t" })).toEqual({});
});
