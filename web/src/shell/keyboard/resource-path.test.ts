import { expect, test } from "vitest";
import { resourcePath } from "./resource-path.ts";

const id = "01jdb8tq5ke5ktbqrs4n1h9m0z";
const routes = [
  "/w/$workspaceId/runs",
  "/w/$workspaceId/runs/$runId",
  "/w/$workspaceId/agents/$agentId/playground",
];

test("a pasted id leads to its screen", () => {
  expect(resourcePath(`run_${id}`, routes)).toBe(`/runs/run_${id}`);
  expect(resourcePath(`agt_${id}`, routes)).toBe(`/agents/agt_${id}/playground`);
  expect(resourcePath(`trg_${id}`, routes)).toBe(`/runs?trigger_id=trg_${id}`);
});

test("another text, and an id without a screen, lead nowhere", () => {
  for (const text of ["", "run_", `run_${id}0`, `xyz_${id}`, `see run_${id}`])
    expect(resourcePath(text, routes)).toBeUndefined();
  expect(resourcePath(`run_${id}`, [])).toBeUndefined();
});
