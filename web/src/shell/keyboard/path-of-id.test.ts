import { expect, test } from "vitest";
import { pathOfId } from "./path-of-id.ts";

const id = "01jdb8tq5ke5ktbqrs4n1h9m0z";
const routes = [
  "/w/$workspaceId/runs",
  "/w/$workspaceId/runs/$runId",
  "/w/$workspaceId/agents/$agentId",
];

test("a pasted id leads to its screen", () => {
  expect(pathOfId(`run_${id}`, "wsp_1", routes)).toBe(`/runs/run_${id}`);
  expect(pathOfId(`agt_${id}`, "wsp_1", routes)).toBe(`/agents/agt_${id}/playground`);
  expect(pathOfId(`trg_${id}`, "wsp_1", routes)).toBe(`/runs?trigger_id=trg_${id}`);
});

test("another text, and an id without a screen, lead nowhere", () => {
  for (const text of ["", "run_", `run_${id}0`, `xyz_${id}`, `see run_${id}`])
    expect(pathOfId(text, "wsp_1", routes)).toBeUndefined();
  expect(pathOfId(`run_${id}`, "wsp_1", [])).toBeUndefined();
});
