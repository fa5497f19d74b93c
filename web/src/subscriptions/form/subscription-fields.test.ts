import type { Subscription } from "@beckon/client";
import { createSubscriptionBody } from "@beckon/contract";
import { expect, test, vi } from "vitest";
import {
  bodyOf,
  changesFor,
  fieldsOf,
  generateSecret,
  hasOtherOrigin,
  newSubscription,
  patchBody,
  resolverFor,
  type SubscriptionFields,
} from "./subscription-fields.ts";

const existing = {
  id: "sub_1",
  url: "https://example.com/a",
  description: "",
  event_types: ["run.finished"],
  agent_ids: null,
  trigger_ids: null,
  tags: ["one"],
  payload: "full",
  format: "standard",
  header_names: ["Authorization"],
} as unknown as Subscription;

const filled: SubscriptionFields = { ...newSubscription, url: "https://example.com/a" };

/** Returns the message of each wrong field. */
async function problemsOf(fields: SubscriptionFields, of?: Subscription) {
  const { errors } = await resolverFor(of)(fields, undefined, {} as never);
  return JSON.parse(JSON.stringify(errors));
}

test("a new subscription needs its URL only", async () => {
  expect(bodyOf(filled)).toEqual({
    url: "https://example.com/a",
    description: "",
    event_types: ["run.finished", "run.failed"],
    agent_ids: null,
    trigger_ids: null,
    tags: null,
    payload: "full",
    format: "standard",
    headers: {},
  });
  expect(await problemsOf(filled)).toEqual({});
  expect(await problemsOf(newSubscription)).toMatchObject({
    url: { message: expect.stringContaining("Enter the URL") },
  });
});

test("each wrong field has its own message", async () => {
  const problems = await problemsOf({
    ...filled,
    url: "ftp://example.com",
    description: "x".repeat(501),
    events: [],
    hasAgents: true,
    hasTriggers: true,
    tags: Array.from({ length: 11 }, (_, n) => `t${n}`).join("\n"),
    secret: "too short",
  });
  expect(Object.keys(problems).sort()).toEqual(
    ["agentIds", "description", "events", "secret", "tags", "triggerIds", "url"].sort(),
  );
});

test("wrong headers are marked at their row", async () => {
  const { headers } = await problemsOf({
    ...filled,
    headers: [
      { name: "x-one", value: "1" },
      { name: "X-ONE", value: "2" },
      { name: "content-type", value: "3" },
      { name: "", value: "4" },
      { name: "x-two", value: "" },
      { name: "x-three", value: "é" },
      { name: "", value: "" },
    ],
  });
  expect(headers.map((row: object | null) => Object.keys(row ?? {}))).toEqual([
    [],
    ["name"],
    ["name"],
    ["name"],
    ["value"],
    ["value"],
  ]);
});

test("a change has only what is different", async () => {
  const fields = fieldsOf(existing);
  expect(changesFor(existing, fields)).toEqual({});
  expect(changesFor(existing, { ...fields, tags: "one\n two \n", events: ["run.failed"] })).toEqual(
    {
      event_types: ["run.failed"],
      tags: ["one", "two"],
    },
  );
  // The values of stored headers are unknown: they are kept unless they are replaced.
  expect(await problemsOf({ ...fields, description: "Shop" }, existing)).toEqual({});
  expect(
    changesFor(existing, {
      ...fields,
      replacesHeaders: true,
      headers: [{ name: "authorization", value: "Bearer 1" }],
    }),
  ).toEqual({ headers: { authorization: "Bearer 1" } });
});

test("a tag can contain commas", () => {
  const tagged = { ...existing, tags: ["a,b", "one"] };
  const fields = fieldsOf(tagged);
  expect(changesFor(tagged, { ...fields, tags: `${fields.tags}\ntwo` })).toEqual({
    tags: ["a,b", "one", "two"],
  });
});

test("another server needs the secret and the headers again", async () => {
  const fields = { ...fieldsOf(existing), url: "https://example.org/a" };
  expect(await problemsOf(fields, existing)).toMatchObject({
    secret: { message: expect.stringContaining("Enter the secret") },
    headers: [{ value: { message: expect.stringContaining("Enter the value") } }],
  });
  const secret = generateSecret();
  const complete = { ...fields, secret, headers: [] };
  expect(await problemsOf(complete, existing)).toEqual({});
  expect(changesFor(existing, complete)).toEqual({
    url: "https://example.org/a",
    secret,
    headers: {},
  });
});

test("origins are compared without URL.parse, which Safari 17 lacks", () => {
  vi.spyOn(URL, "parse").mockImplementation(() => {
    throw new TypeError("URL.parse is not a function");
  });
  expect(hasOtherOrigin(existing.url, "https://example.com:443/b")).toBe(false);
  expect(hasOtherOrigin(existing.url, "http://example.com/a")).toBe(true);
  expect(hasOtherOrigin(existing.url, "https://")).toBe(false);
});

test("a secret is sent with its URL, also if the URL is saved already", () => {
  const url = "https://example.org/a";
  const moved = { ...existing, url };
  expect(patchBody({ secret: "whsec_1" }, moved)).toEqual({ url, secret: "whsec_1" });
  expect(patchBody({ url, secret: "whsec_1" }, existing)).toEqual({ url, secret: "whsec_1" });
  expect(patchBody({ description: "Shop" }, moved)).toEqual({ description: "Shop" });
});

test("a generated secret is one that the API accepts", () => {
  const { success } = createSubscriptionBody.safeParse(
    bodyOf({ ...filled, secret: generateSecret() }),
  );
  expect(success).toBe(true);
});
