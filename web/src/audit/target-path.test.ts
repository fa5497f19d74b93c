import { expect, test } from "vitest";
import { targetPath } from "./target-path.ts";

const routes = ["/w/$workspaceId/settings", "/w/$workspaceId/keys"];

test("only the workspace whose audit log is open links to the settings", () => {
  expect(targetPath("wsp_1", "wsp_1", routes)).toBe("/settings");
  expect(targetPath("wsp_2", "wsp_1", routes)).toBeUndefined();
});

test("an id has no link if the dashboard does not have its screen", () => {
  expect(targetPath("key_1", "wsp_1", routes)).toBe("/keys");
  expect(targetPath("run_1", "wsp_1", routes)).toBeUndefined();
  expect(targetPath("constructor", "wsp_1", routes)).toBeUndefined();
});
