import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Sender, type SentRequest, senders } from "../../test/senders.ts";
import { presets, type RawRequest, verifyRequest } from "./index.ts";

const url = "https://beckon.example.com/api/public/triggers/bkt_0123456789";
const now = new Date("2026-01-05T20:00:27.877Z");
const before = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

function settingsOf({ preset }: Pick<Sender, "preset">) {
  const found = presets.find(({ name }) => name === preset);
  if (found === undefined) throw new Error(`There is no preset ${preset}`);
  return found.receiving;
}

function received(
  { query, headers, body }: SentRequest,
  more: Partial<RawRequest> = {},
): RawRequest {
  return {
    method: "POST",
    url: url + query,
    headers,
    body: Buffer.from(body),
    receivedAtMs: now.getTime(),
    ...more,
  };
}

const sent = (sender: Sender, { secret = sender.secret, sentAt = now } = {}) =>
  sender.send({ url, secret, sentAt, eventId: "event-1" });
const check = (sender: Sender, request: RawRequest, previous: string | null = null) =>
  verifyRequest(settingsOf(sender), { current: sender.secret, previous }, request);
const reasonOf = (sender: Sender, request: RawRequest) => {
  const result = check(sender, request);
  return result.ok ? undefined : result.reason;
};

describe.each(senders)("$name", (sender) => {
  test("a signed request is verified", async () => {
    expect(check(sender, received(await sent(sender)))).toEqual({ ok: true });
  });

  test("a request without signature is rejected", async () => {
    const { headers, ...request } = await sent(sender);
    const unsigned = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !sender.signatureHeaders.includes(name)),
    );
    expect(reasonOf(sender, received({ ...request, headers: unsigned }))).toMatch(
      /is missing|has no basic authentication/,
    );
  });

  test("a signature of another secret is rejected, and never repeated in the reason", async () => {
    const secret =
      sender.preset === "standard-webhooks" || sender.preset === "svix"
        ? `whsec_${Buffer.alloc(24, 8).toString("base64")}`
        : "another secret:1";
    const request = received(await sent(sender, { secret }));
    const reason = reasonOf(sender, request);
    expect(reason).toMatch(/is not valid|does not have the trigger's secret|is wrong/);
    expect(reason).not.toContain(secret);
    expect(reason).not.toContain(sender.secret);
  });

  test("while a secret is rotated, signatures of both secrets are verified", async () => {
    const request = received(await sent(sender));
    const settings = settingsOf(sender);
    const other = sender.secret.replace(/.$/, "A");
    expect(verifyRequest(settings, { current: other, previous: sender.secret }, request).ok).toBe(
      true,
    );
    expect(verifyRequest(settings, { current: other, previous: null }, request).ok).toBe(false);
  });

  test("without a secret, every request is rejected", async () => {
    const request = received(await sent(sender));
    for (const secret of [null, ""]) {
      expect(
        verifyRequest(settingsOf(sender), { current: secret, previous: secret }, request),
      ).toMatchObject({ ok: false, reason: expect.stringContaining("has no secret") });
    }
  });

  test("the reason for a rejection is short and has no secret, however long the headers are", async () => {
    const request = received(await sent(sender));
    const extra = {
      "x-twilio-webhooks-signature-settings": `algorithm=${"\u00df".repeat(10_000)}`,
    };
    for (const text of ["", sender.secret, `t=1,v1=${sender.secret}`, "x".repeat(10_000)]) {
      const headers = { ...request.headers };
      for (const name of sender.signatureHeaders) headers[name] = text;
      for (const each of [headers, { ...headers, ...extra }, { ...request.headers, ...extra }]) {
        const reason = reasonOf(sender, { ...request, headers: each }) ?? "";
        expect(reason.length).toBeLessThanOrEqual(500);
        expect(reason).not.toContain(sender.secret);
        expect(reason).not.toContain("x".repeat(100));
      }
    }
  });

  test("signature headers with arbitrary text are rejected", async () => {
    const request = received(await sent(sender));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
        const headers = { ...request.headers };
        for (const name of sender.signatureHeaders) headers[name] = text;
        expect(check(sender, { ...request, headers }).ok).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe.each(senders.filter(({ signs }) => signs !== "nothing"))("$name", (sender) => {
  test("a body in which one byte was changed, added or removed is rejected", async () => {
    const request = received(await sent(sender));
    const { body } = request;
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const altered = Buffer.from(body);
        altered[at] = (altered[at] ?? 0) ^ change;
        // Twilio signs the decoded fields, so a body that decodes to the same fields stays valid.
        if (isSameForm(sender, altered, body)) return;
        expect(check(sender, { ...request, body: altered }).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
    expect(check(sender, { ...request, body: body.subarray(1) }).ok).toBe(false);
    expect(check(sender, { ...request, body: body.subarray(0, -1) }).ok).toBe(false);
    expect(check(sender, { ...request, body: Buffer.concat([body, Buffer.from("x")]) }).ok).toBe(
      false,
    );
    expect(check(sender, { ...request, body: Buffer.alloc(0) }).ok).toBe(false);
  });

  test("a truncated signature is rejected", async () => {
    const request = received(await sent(sender));
    const [name = ""] = sender.signatureHeaders;
    const value = String(request.headers[name]);
    for (let length = 0; length < value.length; length += 5) {
      const headers = { ...request.headers, [name]: value.slice(0, length) };
      expect(check(sender, { ...request, headers }).ok).toBe(false);
    }
  });
});

function isSameForm({ name }: Sender, a: Buffer, b: Buffer): boolean {
  const fieldsOf = (body: Buffer) => [...new URLSearchParams(body.toString())].sort().join();
  return name.includes("a form") && fieldsOf(a) === fieldsOf(b);
}

describe.each(senders.filter(({ signs }) => signs === "time"))("$name", (sender) => {
  const { verification } = settingsOf(sender);
  const tolerance = "tolerance_seconds" in verification ? verification.tolerance_seconds : 0;

  test("a request that was signed too long before or after its arrival is rejected", async () => {
    for (const seconds of [tolerance + 2, -tolerance - 2, 86_400 * 365]) {
      const old = received(await sent(sender, { sentAt: before(seconds) }));
      expect(reasonOf(sender, old)).toMatch(
        new RegExp(`more than ${tolerance} seconds .* Compare the clocks of .* this server`),
      );
    }
  });

  test("a request that was signed shortly before or after its arrival is verified", async () => {
    for (const seconds of [tolerance - 1, 1 - tolerance]) {
      expect(check(sender, received(await sent(sender, { sentAt: before(seconds) }))).ok).toBe(
        true,
      );
    }
  });
});

test.each(["slack", "standard-webhooks", "svix"] as const)(
  "%s: an old request with a new timestamp is rejected",
  async (preset) => {
    const sender = senders.find((each) => each.preset === preset);
    if (sender === undefined) throw new Error("no sender");
    const request = received(await sent(sender, { sentAt: before(3_600) }));
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        name.endsWith("timestamp") ? String(Math.floor(now.getTime() / 1_000)) : value,
      ]),
    );
    expect(reasonOf(sender, { ...request, headers })).toContain("is not valid");
  },
);

test("the example in Slack's documentation is verified", () => {
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const request = received(
    {
      query: "",
      headers: {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      },
      body,
    },
    { receivedAtMs: 1_531_420_618_000 },
  );
  const secrets = { current: "8f742231b10e8888abcd99yyyzzz85a5", previous: null };
  expect(verifyRequest(settingsOf({ preset: "slack" }), secrets, request)).toEqual({ ok: true });
});

test("the example in GitHub's documentation is verified", () => {
  const request = received({
    query: "",
    headers: {
      "x-hub-signature-256":
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
    body: "Hello, World!",
  });
  const secrets = { current: "It's a Secret to Everybody", previous: null };
  expect(verifyRequest(settingsOf({ preset: "github" }), secrets, request)).toEqual({ ok: true });
});

test("the example in the Standard Webhooks specification is verified", () => {
  const request = received(
    {
      query: "",
      headers: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      body: '{"test": 2432232314}',
    },
    { receivedAtMs: 1_614_265_330_000 },
  );
  const settings = settingsOf({ preset: "standard-webhooks" });
  for (const current of [
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  ]) {
    expect(verifyRequest(settings, { current, previous: null }, request)).toEqual({ ok: true });
  }
});

test("the example in Twilio's documentation is verified", () => {
  const form = new URLSearchParams({
    CallSid: "CA1234567890ABCDE",
    Caller: "+14158675309",
    Digits: "1234",
    From: "+14158675309",
    To: "+18005551212",
  });
  const request = received(
    {
      query: "",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
      },
      body: form.toString(),
    },
    { url: "https://mycompany.com/myapp.php?foo=1&bar=2" },
  );
  expect(
    verifyRequest(settingsOf({ preset: "twilio" }), { current: "12345", previous: null }, request),
  ).toEqual({ ok: true });
});

describe("several signatures", () => {
  const [stripe, standard] = ["stripe", "standard-webhooks"].map((preset) =>
    senders.find((sender) => sender.preset === preset),
  );
  if (stripe === undefined || standard === undefined) throw new Error("no sender");

  test("one valid signature among others is enough", async () => {
    const request = await sent(stripe);
    const header = String(request.headers["stripe-signature"]);
    const wrong = "0".repeat(64);
    const values = {
      [header.replace("v1=", `v1=${wrong},v1=`)]: true,
      [`${header},v1=${wrong},v0=${wrong}`]: true,
      [header.replace(",", " , ")]: true,
      [header.replace(/v1=.*/, `v1=${wrong}`)]: false,
      [header.replace("v1=", "v0=")]: false,
    };
    for (const [value, ok] of Object.entries(values)) {
      const headers = { ...request.headers, "stripe-signature": value };
      expect(check(stripe, received({ ...request, headers })).ok).toBe(ok);
    }
  });

  test("a header with two timestamps is rejected, because it is not clear which one is signed", async () => {
    const request = await sent(stripe);
    const headers = {
      ...request.headers,
      "stripe-signature": `t=1,${request.headers["stripe-signature"]}`,
    };
    expect(reasonOf(stripe, received({ ...request, headers }))).toContain("timestamp is missing");
  });

  test("more than 20 signatures are rejected", async () => {
    const request = await sent(standard);
    const value = String(request.headers["webhook-signature"]);
    const withCount = (count: number) => ({
      ...request.headers,
      "webhook-signature": Array(count).fill(value).join(" "),
    });
    expect(check(standard, received({ ...request, headers: withCount(20) })).ok).toBe(true);
    expect(check(standard, received({ ...request, headers: withCount(21) })).ok).toBe(false);
  });
});

describe("Twilio", () => {
  const [form, json] = senders.filter(({ preset }) => preset === "twilio");
  if (form === undefined || json === undefined) throw new Error("no sender");

  test("the signature can be of the URL with or without its port", async () => {
    for (const signed of [
      "https://beckon.example.com:443/t?a=1",
      "https://beckon.example.com/t?a=1",
    ]) {
      const request = await form.send({
        url: signed,
        secret: form.secret,
        sentAt: now,
        eventId: "e",
      });
      for (const receivedAt of [
        "https://beckon.example.com:443/t?a=1",
        "https://beckon.example.com/t?a=1",
      ]) {
        expect(check(form, received(request, { url: receivedAt })).ok).toBe(true);
      }
      expect(
        check(form, received(request, { url: "https://beckon.example.com:8443/t?a=2" })).ok,
      ).toBe(false);
    }
  });

  test("a request to another URL is rejected", async () => {
    const request = await sent(form);
    expect(check(form, received(request, { url: `${url}?a=1` })).ok).toBe(false);
    expect(check(form, received(request, { url: url.replace("beckon", "other") })).ok).toBe(false);
  });

  test.each(["HMAC_MD5", "__PROTO__", "constructor"])(
    "a signature with the algorithm %s is rejected with its name",
    async (algorithm) => {
      const request = await sent(form);
      const settings = `key=webhooks_sharedkey_1,algorithm=${algorithm}`;
      const headers = { ...request.headers, "x-twilio-webhooks-signature-settings": settings };
      expect(reasonOf(form, received({ ...request, headers }))).toContain(algorithm.toUpperCase());
    },
  );

  test("a JSON body whose hash is not in the URL is rejected, even if the URL is signed", async () => {
    const request = await sent(form);
    const headers = { ...request.headers, "content-type": "application/json" };
    expect(reasonOf(form, received({ ...request, headers }))).toContain("bodySHA256");
  });

  test("a form cannot replace the body that the URL has the hash of", async () => {
    const request = await sent(json);
    const headers = { ...request.headers, "content-type": "application/x-www-form-urlencoded" };
    expect(check(json, received({ ...request, headers, body: "a=1" })).ok).toBe(false);
    expect(check(json, received({ ...request, headers, body: "" })).ok).toBe(false);
  });

  test("a form with more than 1,000 fields is rejected before they are parsed and sorted", async () => {
    const body = `${"a=1&".repeat(1_000)}&&a=1`;
    expect(reasonOf(form, received({ ...(await sent(form)), body }))).toContain("1,000 fields");
    const allowed = received({ ...(await sent(form)), body: "a=1&".repeat(1_000) });
    expect(reasonOf(form, allowed)).toContain("signature");
  });

  test("repeated fields are signed sorted, each value once", async () => {
    const signature = createHmac("sha1", form.secret).update(`${url}a1a2b0`).digest("base64");
    const headers = { ...(await sent(form)).headers, "x-twilio-signature": signature };
    expect(check(form, received({ query: "", headers, body: "b=0&a=2&a=1&a=2" })).ok).toBe(true);
  });
});

describe("basic authentication", () => {
  const settings = { verification: { kind: "basic" } } as const;
  const verify = (authorization: string, current = "user:päss:word") =>
    verifyRequest(
      settings,
      { current, previous: null },
      received({ query: "", headers: { authorization }, body: "" }),
    ).ok;
  const encoded = Buffer.from("user:päss:word").toString("base64");

  test("the scheme is case-insensitive, and the password can contain colons", () => {
    expect(verify(`Basic ${encoded}`)).toBe(true);
    expect(verify(`basic  ${encoded}`)).toBe(true);
  });

  test.each([
    "",
    "Basic",
    `Bearer ${encoded}`,
    `Basic ${encoded}, Basic ${encoded}`,
    `Basic ${Buffer.from("user:").toString("base64")}`,
    "Basic !!!!",
  ])("%j is rejected", (value) => expect(verify(value)).toBe(false));

  test("a secret without a colon, from another verification, is not accepted", () => {
    expect(verify(`Basic ${Buffer.from("secret").toString("base64")}`, "secret")).toBe(false);
  });
});
