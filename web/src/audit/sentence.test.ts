import type { AuditEntry } from "@beckon/client";
import { expect, test } from "vitest";
import { actorText, changesOf, factsOf, innerChanges, namesIn, sentenceText } from "./sentence.ts";

const id = (prefix: string) => `${prefix}_01k9x2q4f8e6s7m3n5p1r0t2v4`;
const entry = (given: Partial<AuditEntry>): AuditEntry => ({
  id: id("aud"),
  time: "2026-11-21T10:00:00.000Z",
  actor: `user:${id("usr")}`,
  action: "agent.create",
  target: id("agt"),
  address: null,
  data: {},
  ...given,
});
const names = new Map([
  [id("usr"), "Ada"],
  [id("agt"), "Refund desk"],
  [id("key"), "CI"],
]);
const said = (given: Partial<AuditEntry>) => sentenceText(entry(given), names);

test("an entry is a sentence with names", () => {
  expect(said({ action: "agent.token.rotate" })).toBe(
    "Ada rotated the token of the agent Refund desk",
  );
  expect(said({ action: "runs.cancel", data: { cancelled: 1 } })).toBe("Ada cancelled 1 run");
  expect(said({ action: "session.delete_others", data: { ended: 3 } })).toBe(
    "Ada ended 3 other sessions of their own",
  );
  expect(
    said({ action: "member.update", target: id("usr"), data: { after: { role: "editor" } } }),
  ).toBe("Ada gave Ada the role editor");
});

test("a change names at most three fields", () => {
  const after = (...fields: string[]) => ({
    after: Object.fromEntries(fields.map((field) => [field, 1])),
  });
  const changed = (data: object) => said({ action: "agent.update", data: { ...data } });
  expect(changed(after("model"))).toMatch(/^Ada changed the model of/);
  expect(changed(after("model", "limits"))).toMatch(/^Ada changed the model and limits of/);
  expect(changed(after("a", "b", "c"))).toMatch(/^Ada changed the a, b and c of/);
  expect(changed(after("a", "b", "c", "d", "e"))).toMatch(
    /^Ada changed the a, b, c and 2 more fields/,
  );
  expect(changed({})).toMatch(/^Ada changed the settings of/);
  expect(said({ action: "provider.update", data: { api_key: "replaced" } })).toMatch(/API key of/);
});

test("a member who removes themselves left", () => {
  expect(said({ action: "member.delete", target: id("usr") })).toBe("Ada left the workspace");
  const other = `key:${id("key")}`;
  expect(said({ action: "member.delete", target: id("usr"), actor: other })).toBe(
    "Key CI removed Ada from the workspace",
  );
});

test("an action of a later version, and ones named like members of objects, show their code", () => {
  for (const action of ["agent.teleport", "constructor", "__proto__"])
    expect(said({ action })).toBe(`Ada did ${action} on Refund desk`);
});

test("what has no name is shown by its id, in short", () => {
  expect(said({ action: "key.delete", target: id("prv") })).toMatch(/the key prv_01k9x2…/);
  expect(said({ action: "run.retry", target: id("run") })).toMatch(/the run \(unknown\) as run_/);
  expect(actorText("system", names)).toBe("Beckon");
  expect(actorText(`token:${id("agt")}`, names)).toBe("Token of Refund desk");
  expect(actorText("someone", names)).toBe("someone");
});

test("names of deleted things come from their entries, the newest first", () => {
  const found = namesIn([
    entry({ action: "agent.delete", data: { name: "New name" } }),
    entry({ data: { after: { name: "Old name" }, before: { name: 4 } } }),
    entry({ action: "member.delete", target: id("usr"), data: { email: "ada@example.com" } }),
    entry({
      action: "invitation.accept",
      target: id("inv"),
      data: { user_id: id("ses"), email: "grace@example.com" },
    }),
  ]);
  expect([...found]).toEqual([
    [id("agt"), "New name"],
    [id("usr"), "ada@example.com"],
    [id("ses"), "grace@example.com"],
  ]);
});

test("changes and other facts are told apart", () => {
  const data = { before: { a: 1 }, after: { a: 2, b: [3] }, version: 4 };
  expect(changesOf(data)).toEqual([
    { field: "a", before: 1, after: 2 },
    { field: "b", before: undefined, after: [3] },
  ]);
  expect(factsOf(entry({ data }))).toEqual([["version", 4]]);
  expect(changesOf({ before: "text", after: [1] })).toEqual([]);
});

test("of objects, the inner fields that differ are shown", () => {
  const limits = { max_steps: 20, tokens: { input: 1, output: 2 }, tools: [1] };
  const changed = { max_steps: 20, tokens: { input: 1, output: 3 }, tools: [1, 2] };
  expect(innerChanges({ field: "limits", before: limits, after: changed })).toEqual([
    { field: "limits.tokens.output", before: 2, after: 3 },
    { field: "limits.tools", before: [1], after: [1, 2] },
  ]);
  const added = { field: "limits", before: undefined, after: limits };
  expect(innerChanges(added)).toEqual([added]);
});
