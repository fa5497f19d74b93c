import { receiving } from "@beckon/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerHandshake, type RawRequest } from "./index.ts";

const url = "https://beckon.example.com/api/public/triggers/bkt_0123456789";
const settingsOf = (handshake: string, more = {}) => receiving.parse({ handshake, ...more });
const request = (more: Partial<RawRequest>): RawRequest => ({
  method: "GET",
  url,
  headers: {},
  body: Buffer.alloc(0),
  receivedAtMs: 0,
  ...more,
});
const slackRequest = (body: unknown, type = "application/json") =>
  request({
    method: "POST",
    headers: { "content-type": type },
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  });
const text = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};
const noToken = { verifyToken: null };

describe("Meta", () => {
  const verifyToken = "meatyhamhock";
  const query = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${verifyToken}`;
  const answer = (search: string, token: string | null = verifyToken, method = "GET") =>
    answerHandshake(
      settingsOf("meta"),
      { verifyToken: token },
      request({ method, url: `${url}?${search}` }),
    );

  test("the challenge is answered if the verify token matches", () => {
    expect(answer(query)).toEqual({ status: 200, headers: text, body: "1158201444" });
  });

  test.each([
    ["another token", query.replace("ham", "ram")],
    ["no token", "hub.mode=subscribe&hub.challenge=1158201444"],
    ["an empty token", "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token="],
    ["another mode", query.replace("subscribe", "unsubscribe")],
    ["no challenge", query.replace("hub.challenge", "x")],
    ["no query", ""],
  ])("%s is not answered", (_, search) => expect(answer(search)).toBeUndefined());

  test("without a verify token nothing is answered, also not an empty one", () => {
    for (const token of [null, ""]) {
      expect(answer(query, token)).toBeUndefined();
      expect(answer("hub.mode=subscribe&hub.challenge=1&hub.verify_token=", token)).toBeUndefined();
    }
  });

  test.each(["POST", "OPTIONS", "HEAD"])("%s is not answered", (method) =>
    expect(answer(query, verifyToken, method)).toBeUndefined(),
  );
});

describe("Dropbox", () => {
  const answer = (search: string) =>
    answerHandshake(settingsOf("dropbox"), noToken, request({ url: `${url}?${search}` }));

  test("the challenge is answered as text", () => {
    expect(answer("challenge=abc-DEF_1.2")).toEqual({
      status: 200,
      headers: text,
      body: "abc-DEF_1.2",
    });
  });

  test.each([
    "",
    "challenge=",
    "challenge=%3Cscript%3E",
    "challenge=a%0Ab",
    `challenge=${"a".repeat(257)}`,
  ])("%j is not answered", (search) => expect(answer(search)).toBeUndefined());
});

describe("Slack", () => {
  const body = {
    token: "Jhj5dZrVaK7ZwHHjRyZWjbDl",
    challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
    type: "url_verification",
  };
  const answer = (sent: unknown, type?: string) =>
    answerHandshake(settingsOf("slack"), noToken, slackRequest(sent, type));

  test("the challenge is answered", () => {
    expect(answer(body)).toEqual({ status: 200, headers: text, body: body.challenge });
    expect(answer(body, "application/json; charset=utf-8")?.body).toBe(body.challenge);
  });

  test.each([
    ["an event", { ...body, type: "event_callback" }],
    ["a challenge with markup", { ...body, challenge: "<script>" }],
    ["a challenge that is not text", { ...body, challenge: ["a"] }],
    ["no challenge", { type: "url_verification" }],
    ["null", "null"],
    ["text that is not JSON", "{"],
    ["an array", [body]],
  ])("%s is not answered", (_, sent) => expect(answer(sent)).toBeUndefined());

  test("a body that is not JSON by its type is not answered", () => {
    expect(answer(body, "text/plain")).toBeUndefined();
  });
});

describe("CloudEvents", () => {
  const answer = (headers: Record<string, string>, more = {}, method = "OPTIONS") =>
    answerHandshake(settingsOf("cloudevents", more), noToken, request({ method, headers }));
  const origin = { "webhook-request-origin": "eventgrid.azure.net" };

  test("the sender's origin is allowed", () => {
    expect(answer(origin)).toEqual({
      status: 200,
      headers: { allow: "POST, OPTIONS", "webhook-allowed-origin": "eventgrid.azure.net" },
      body: "",
    });
  });

  test.each([
    ["120", null, "120"],
    ["*", null, "*"],
    ["120", 60, "60"],
    ["30", 60, "30"],
    ["*", 60, "60"],
    [undefined, 60, "60"],
    [undefined, null, undefined],
  ])("of the rate %s a limit of %s grants %s", (asked, max_per_minute, granted) => {
    const headers = asked === undefined ? origin : { ...origin, "webhook-request-rate": asked };
    expect(answer(headers, { max_per_minute })?.headers["webhook-allowed-rate"]).toBe(granted);
  });

  test("a preflight request of a browser is not answered", () => {
    expect(
      answer({ origin: "https://example.com", "access-control-request-method": "POST" }),
    ).toBeUndefined();
  });

  test("an origin with markup or spaces is not answered", () => {
    for (const value of ["<a>", "a b", "", "a\tb", "x".repeat(257)]) {
      expect(answer({ "webhook-request-origin": value })).toBeUndefined();
    }
  });

  test.each(["GET", "POST"])("%s is not answered", (method) =>
    expect(answer(origin, {}, method)).toBeUndefined(),
  );
});

test("a trigger without handshake answers none", () => {
  const requests = [
    request({ url: `${url}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=t&challenge=1` }),
    request({ method: "OPTIONS", headers: { "webhook-request-origin": "a" } }),
    slackRequest({ type: "url_verification", challenge: "a" }),
  ];
  for (const each of requests) {
    expect(answerHandshake(settingsOf("none"), { verifyToken: "t" }, each)).toBeUndefined();
  }
});

test("whatever is sent, a response contains only a challenge of letters, digits, _ . and -", () => {
  const handshake = fc.constantFrom("meta", "dropbox", "slack");
  fc.assert(
    fc.property(handshake, fc.string({ unit: "binary" }), (kind, challenge) => {
      const query = new URLSearchParams({
        challenge,
        "hub.challenge": challenge,
        "hub.mode": "subscribe",
        "hub.verify_token": "t",
      });
      const answer = answerHandshake(
        settingsOf(kind),
        { verifyToken: "t" },
        kind === "slack"
          ? slackRequest({ type: "url_verification", challenge })
          : request({ url: `${url}?${query}` }),
      );
      expect(answer?.body ?? "x").toMatch(/^[\w.-]{1,256}$/);
    }),
    { numRuns: 300 },
  );
});
