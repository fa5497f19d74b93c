import { expect, test } from "vitest";
import { mergeFields } from "../../../ui/overlay/merge.ts";
import type { Tool } from "../fields.ts";
import { fromMergeable, shownTool, toMergeable, toolLabels } from "./mergeable.ts";

const tool = (name: string, more: object = {}): Tool => ({
  type: "http",
  name,
  allowed_hosts: ["api.example.com"],
  operations: [],
  ...more,
});
const secret = { headers: { Authorization: { secret: "not-for-eyes-0123" } } };
const settings = (...tools: Tool[]) => toMergeable({ tools });

test("two people who change different tools both keep their changes", () => {
  const base = settings({ type: "clock" }, tool("shop"), tool("old"));
  const theirs = settings({ type: "clock" }, tool("shop", { description: "Theirs" }), tool("old"));
  const yours = settings(tool("shop"), tool("old"), tool("crm", secret));
  const { merged, conflicts } = mergeFields(base, theirs, yours, ["tools"]);
  expect(conflicts).toEqual([]);
  expect(fromMergeable<{ tools: Tool[] }>(merged as typeof base).tools).toEqual([
    tool("shop", { description: "Theirs" }),
    tool("old"),
    tool("crm", secret),
  ]);
});

test("a tool that both changed is shown by its name, without its new secret", () => {
  const [base, theirs] = [settings(tool("shop")), settings()];
  const yours = settings(tool("shop", secret));
  const [conflict] = mergeFields(base, theirs, yours, ["tools"]).conflicts;
  expect(toolLabels(base.tools, theirs.tools)[conflict?.field ?? ""]).toBe("Tool shop");
  expect(shownTool(conflict?.theirs as Tool | undefined)).toBe("(removed)");
  expect(shownTool(conflict?.yours as Tool)).not.toContain("not-for-eyes");
});
