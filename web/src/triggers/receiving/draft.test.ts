import { type Preset, receiving } from "@beckon/contract";
import { expect, test } from "vitest";
import { draftOf, receivingOf, signedParts, signedPattern, withPreset } from "./draft.ts";
import { summariesOf } from "./summaries.ts";

test("every setting is the same after it was shown in the form", () => {
  const given = receiving.parse({
    verification: {
      kind: "hmac",
      header: "x-signature",
      algorithm: "sha512",
      encoding: "base64",
      prefix: "v1",
      form: "pairs",
      signed: [{ literal: "v0:" }, "timestamp", { literal: ":" }, "id", "body"],
      timestamp: { pair: "t" },
      id: { header: "x-id" },
      tolerance_seconds: 60,
      secret_encoding: "whsec",
    },
    allowed_addresses: ["192.0.2.1", "2001:db8::/32"],
    event_id: { pointer: "/id" },
    event_id_days: 30,
    event_type: { query: "type" },
    handshake: "meta",
    bodies: { multipart: true, xml: true, ndjson: true, csv: true, gzip: true, max_bytes: 2_048 },
    headers: ["x-event", "x-other"],
    query: ["first name", "a,b"],
    filter: "payload.ok == true",
    template: "{{ payload.text }}\n",
    when_paused: "hold",
    when_disabled: "swallow",
    max_per_minute: 60,
    form: {
      origins: ["https://example.com", "https://www.example.com"],
      honeypot: "website",
      answer: { redirect: "https://example.com/thanks" },
    },
  });
  expect(receivingOf(draftOf("", given))).toEqual(given);
  expect(summariesOf(draftOf("", given)).input).toContain("2 headers · 2 query parameters");
  expect(receivingOf(draftOf("", null))).toBeNull();
});

test("another preset replaces the filter of the previous one, and not one's own", () => {
  const preset = (filter: string | null) => ({ receiving: receiving.parse({ filter }) }) as Preset;
  const [github, stripe] = [preset('event.type != "ping"'), preset(null)];
  const chosen = withPreset(draftOf("", null), github, undefined);
  expect(chosen.filter).toBe('event.type != "ping"');
  expect(withPreset(chosen, stripe, github).filter).toBe("");
  expect(withPreset({ ...chosen, filter: "true" }, stripe, github).filter).toBe("true");
});

test("another preset keeps who can send, the rules for web forms and what no preset has", () => {
  const given = receiving.parse({
    allowed_addresses: ["192.0.2.1"],
    template: "{{ payload.text }}",
    when_paused: "hold",
    when_disabled: "swallow",
    max_per_minute: 60,
    form: {
      origins: ["https://example.com"],
      honeypot: "website",
      answer: { text: "Thanks" },
    },
  });
  const github = { name: "github", receiving: receiving.parse({ handshake: "slack" }) } as Preset;
  const chosen = withPreset(draftOf("An event:", given), github, undefined);
  expect(chosen.promptPrefix).toBe("An event:");
  expect(receivingOf(chosen)).toEqual({ ...given, preset: "github", handshake: "slack" });
});

test("a number that cannot be read is an error, and not a setting without a limit", () => {
  const draft = draftOf("", receiving.parse({}));
  const eventId = { at: "header", name: "x-id" } as const;
  const wrong = { eventId, eventIdDays: "1e", maxKib: "1e", maxPerMinute: "1e" };
  const { error } = receiving.safeParse(receivingOf({ ...draft, ...wrong }));
  expect(error?.issues.map(({ path }) => path.join("."))).toEqual([
    "event_id_days",
    "bodies.max_bytes",
    "max_per_minute",
  ]);
});

test("a separator of thousands is an error, and not a limit of one", () => {
  const draft = draftOf("", receiving.parse({}));
  const eventId = { at: "header", name: "x-id" } as const;
  for (const text of ["1.000", "1.024", "1,000"]) {
    const wrong = { eventId, eventIdDays: text, maxKib: text, maxPerMinute: text };
    const { error } = receiving.safeParse(receivingOf({ ...draft, ...wrong }));
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual([
      "event_id_days",
      "bodies.max_bytes",
      "max_per_minute",
    ]);
  }
});

test("a size that is no whole number of KiB is the same after it was shown", () => {
  for (const max_bytes of [1_025, 1_536, 100_000]) {
    const given = receiving.parse({ bodies: { max_bytes } });
    expect(receivingOf(draftOf("", given))).toMatchObject({ bodies: { max_bytes } });
  }
});

test("a pattern of signed parts is read as it is written", () => {
  for (const pattern of ["{body}", "v0:{timestamp}:{body}", "{id}.{timestamp}.{body}", "{x}{body}"])
    expect(signedPattern(signedParts(pattern))).toBe(pattern);
  expect(signedParts("v0:{timestamp}:{body}")).toEqual([
    { literal: "v0:" },
    "timestamp",
    { literal: ":" },
    "body",
  ]);
});

test("numbers in fields that are not shown cannot stop a save", () => {
  const hmac = { kind: "hmac", header: "x-signature", algorithm: "sha256", encoding: "hex" };
  const stored = receiving.parse({
    verification: { ...hmac, signed: ["body"], tolerance_seconds: 60 },
    event_id_days: 30,
  });
  const draft = draftOf("", stored);
  expect(receivingOf(draft)).toEqual(stored);
  const wrong = { ...draft, eventIdDays: "31", tolerance: "" };
  expect(receivingOf(wrong)).toMatchObject({
    event_id_days: 7,
    verification: { tolerance_seconds: 300 },
  });
});
