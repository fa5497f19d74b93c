import type { Key } from "@beckon/client";
import { expect, test, vi } from "vitest";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { bodyOf, changesFor, fieldsOf, keyResolver, newKey, withToggled } = await import(
  "./key-fields.ts"
);

const key = (scopes: string[]) => ({ name: "Shop", scopes, agent_ids: null }) as unknown as Key;

test("a changed name changes nothing else of a key with single scopes", () => {
  const custom = key(["runs:read", "usage:read"]);
  const fields = { ...fieldsOf(custom), name: "Store" };
  expect(changesFor(custom, fields, custom)).toEqual({ name: "Store" });
});

test("scopes that somebody else adds or removes while the form is open stay so", () => {
  const base = key(["runs:read", "usage:read", "agents:read"]);
  const current = key(["runs:read", "agents:read", "audit:read"]);
  const added = { ...fieldsOf(base), ...withToggled(fieldsOf(base), "keys:read") };
  const fields = { ...added, ...withToggled(added, "agents:read") };
  expect(changesFor(base, fields, current)).toEqual({
    scopes: ["runs:read", "audit:read", "keys:read"],
  });
});

test("agents that somebody else adds or removes while the form is open stay so", () => {
  const limited = (agent_ids: string[] | null) => ({ ...key(["runs:read"]), agent_ids });
  const base = limited(["agt_1", "agt_2"]);
  const fields = { ...fieldsOf(base), agentIds: ["agt_1", "agt_2", "agt_3"] };
  const sent = (current: Key) => changesFor(base, fields, current);
  expect(sent(limited(["agt_1", "agt_4"]))).toEqual({ agent_ids: ["agt_1", "agt_4", "agt_3"] });
  expect(sent(limited(null))).toEqual({ agent_ids: ["agt_1", "agt_2", "agt_3"] });
  expect(changesFor(base, { ...fields, isLimited: false }, base)).toEqual({ agent_ids: null });
});

test("a scope is added to those of the chosen preset, not to those from before", () => {
  const fields = { ...fieldsOf(key(["keys:read"])), grant: "invoke" as const };
  expect(withToggled(fields, "runs:read")).toEqual({
    grant: "scopes",
    scopes: ["agents:invoke", "runs:read"],
  });
});

test("a scope that is added and removed leaves the key as it was", () => {
  const added = { ...newKey, ...withToggled(newKey, "runs:read") };
  expect(bodyOf({ ...added, ...withToggled(added, "runs:read") })).toMatchObject({
    scopes: ["agents:invoke"],
  });
});

test("a number of days with a separator is an error, and not one day", async () => {
  const fields = { ...newKey, name: "Shop", expiry: "other" };
  expect(bodyOf({ ...fields, days: " 30 " })).toMatchObject({ expires_in_days: 30 });
  for (const days of ["1.000", "1,000", "", "ten"]) {
    const options = { fields: {}, shouldUseNativeValidation: false };
    const { errors } = await keyResolver({ ...fields, days }, undefined, options);
    expect([days, errors.days?.message]).toEqual([
      days,
      "Enter a whole number of days, 1 to 36,500.",
    ]);
  }
});
