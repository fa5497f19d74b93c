import { expect, test } from "vitest";
import { afterSave } from "./after-save.ts";
import type { Tool, VersionedFields } from "./fields.ts";
import { changesIn, type FormValues, valuesOf } from "./form-values.ts";

const tool = (name: string, description = ""): Tool => ({
  type: "http",
  name,
  description,
  allowed_hosts: ["api.example.com"],
  operations: [],
});
const base = {
  version: 12,
  name: "Desk",
  description: "",
  instructions: "Be brief.",
  max_cost_micros: null,
  metadata: {},
  tools: [tool("shop"), tool("crm")],
} as unknown as VersionedFields;
const filled = valuesOf(base);

/** Returns the form after `sent` was saved, while someone else saved `theirs`. */
function saveWith(sent: Partial<FormValues>, theirs: object, typed: Partial<FormValues>) {
  const saved = { ...base, ...sent, ...theirs, version: 14 } as VersionedFields;
  const before = { ...filled, ...sent };
  const next = afterSave({ base, saved, sent: before, typed: { ...before, ...typed } });
  return { ...next, changes: changesIn(next.values, next.base) };
}

test("what is typed during a save is based on what the person has seen", () => {
  const instructions = "Be long.";
  const theirs = { instructions: "Be kind.", metadata: { team: "a" } };
  const { base: now, changes } = saveWith({ description: "Mine" }, theirs, { instructions });
  expect(now).toMatchObject({ version: 12, description: "Mine", instructions: "Be brief." });
  expect(now.metadata).toEqual({ team: "a" });
  expect(changes).toEqual({ instructions });
});

test("what is typed into a sent field, or one that only this person edits, needs no merge", () => {
  for (const typed of [{ description: "Mine, too" }, { instructions: "Be long." }]) {
    const { base: now, changes } = saveWith({ description: "Mine" }, { name: "Help" }, typed);
    expect(now).toMatchObject({ version: 14, description: "Mine", name: "Help" });
    expect(changes).toEqual(typed);
  }
});

test("a tool that is edited during a save removes no tool of another person", () => {
  const theirs = { tools: [tool("shop", "Mine"), tool("crm", "Theirs"), tool("mail")] };
  const sent = { tools: [tool("shop", "Mine"), tool("crm")] };
  const shop = { tools: [tool("shop", "Mine, too"), tool("crm")] };
  const merged = saveWith(sent, theirs, shop);
  expect(merged.base.version).toBe(14);
  expect(merged.values.tools).toEqual([
    tool("shop", "Mine, too"),
    tool("crm", "Theirs"),
    tool("mail"),
  ]);
  const same = saveWith(sent, theirs, { tools: [tool("shop", "Mine"), tool("crm", "Later")] });
  expect(same.base).toMatchObject({ version: 12, tools: [tool("shop", "Mine"), tool("crm"), {}] });
  expect(same.values.tools).toMatchObject([{}, { description: "Later" }, { name: "mail" }]);
  const removed = saveWith({}, theirs, { tools: [tool("shop")] });
  expect(removed.base.version).toBe(12);
  expect(removed.values.tools).toMatchObject([{ description: "Mine" }, { name: "mail" }]);
});

test("tools that two people have added at the same time are in the saved order", () => {
  const sent = { tools: [tool("shop"), tool("crm"), tool("mine")] };
  const theirs = { tools: [tool("shop"), tool("crm"), tool("theirs"), tool("mine")] };
  const { base: now, changes } = saveWith(sent, theirs, {});
  expect([now.version, changes]).toEqual([14, {}]);
  const typed = { tools: [...sent.tools, tool("later")] };
  expect(saveWith(sent, theirs, typed).values.tools).toEqual([...theirs.tools, tool("later")]);
});
