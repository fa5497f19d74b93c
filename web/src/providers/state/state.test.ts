import type { ModelList } from "@beckon/client";
import { createProviderBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { presets } from "../form/presets.ts";
import { adviceFor, settingIn } from "./advice.ts";
import { stateOf } from "./state.ts";

test("the setting for a private address is found in the message", () => {
  const message =
    "base_url: 10.0.0.5:8080 is not a public address, so Beckon does not call it. The operator can allow it: add 10.0.0.5:8080 to BECKON_EGRESS_ALLOW (several addresses are separated by commas) and start Beckon again.";
  expect(settingIn(message)).toBe("BECKON_EGRESS_ALLOW=10.0.0.5:8080");
});

test("a message about something else has no setting", () => {
  expect(settingIn("It rejects the key (401).")).toBeUndefined();
});

test.each([
  "It rejects the key (401).",
  "It rejects the request (400).",
  "It does not list its models (404), so Beckon cannot check it. Agents can use it if the base URL is right.",
  "It answered, but not with a list of models: is the base URL that of its API?",
  "It cannot be reached (ECONNREFUSED).",
  "It did not answer within 10 seconds.",
  "It answered 429: too many requests, or the account's limit is used up.",
  "It answered 500.",
])("there is advice for the error %j", (error) => {
  expect(adviceFor(error, true)).toEqual(expect.stringMatching(/^[A-Z].*\.$/));
  expect(adviceFor(error, false)).not.toMatch(/Edit/);
});

test("every preset but the last is complete, except for a key", () => {
  for (const { id, name, kind, baseUrl } of presets.slice(0, -1)) {
    const address = baseUrl === "" ? {} : { base_url: baseUrl };
    const { error } = createProviderBody.safeParse({ name, kind, ...address, api_key: "sk-1" });
    expect([id, error]).toEqual([id, undefined]);
  }
});

const provider = { id: "prv_1", name: "mine" };
const list: ModelList = {
  provider: "mine",
  provider_id: "prv_1",
  origin: "workspace",
  models: ["mine/a/b"],
  error: null,
};
const read = { lists: [list], readAtMs: 1_000, isPending: false };

test("a provider that does not list its models is not checked, and does not fail", () => {
  const error = "It does not list its models (404), so Beckon cannot check it. Agents can use it.";
  const unchecked = { name: "unchecked", error, atMs: 1_000 };
  const lists = [{ ...list, models: [], error }];
  expect(stateOf(provider, { ...read, lists }, undefined)).toEqual(unchecked);
  const check = { works: false, models: [], error, requestedAtMs: 990, checkedAtMs: 1_000 };
  expect(stateOf(provider, read, check)).toEqual(unchecked);
});

test("the newer one of check and list counts", () => {
  const failed = { works: false, models: [], error: "It answered 500.", requestedAtMs: 990 };
  expect(stateOf(provider, read, undefined)).toEqual({
    name: "works",
    models: ["a/b"],
    atMs: 1_000,
  });
  expect(stateOf(provider, read, { ...failed, checkedAtMs: 999 })).toMatchObject({ name: "works" });
  expect(stateOf(provider, read, { ...failed, checkedAtMs: 2_000 })).toEqual({
    name: "fails",
    error: "It answered 500.",
    atMs: 2_000,
  });
});

test("for new agents, the workspace's provider replaces the operator's of its name", () => {
  expect(stateOf({ id: "env_mine", name: "mine" }, read, undefined)).toEqual({ name: "replaced" });
});

test("the workspace's own provider is never replaced while its list is missing", () => {
  const operators: ModelList = { ...list, provider_id: "env_mine", origin: "environment" };
  expect(stateOf(provider, { ...read, lists: [operators] }, undefined)).toEqual({
    name: "loading",
  });
});

test("without the lists nothing is known", () => {
  const none = { lists: undefined, readAtMs: 0 };
  expect(stateOf(provider, { ...none, isPending: true }, undefined).name).toBe("loading");
  expect(stateOf(provider, { ...none, isPending: false }, undefined).name).toBe("unknown");
});
