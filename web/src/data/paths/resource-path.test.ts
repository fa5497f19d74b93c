import { expect, test } from "vitest";
import { resourcePath } from "./resource-path.ts";

const routes = ["/w/$workspaceId/settings", "/w/$workspaceId/keys"];

test("only the workspace whose audit log is open links to the settings", () => {
  expect(resourcePath("wsp_1", "wsp_1", routes)).toBe("/settings");
  expect(resourcePath("wsp_2", "wsp_1", routes)).toBeUndefined();
});

test("an id has no link if the dashboard does not have its screen", () => {
  expect(resourcePath("key_1", "wsp_1", routes)).toBe("/keys");
  expect(resourcePath("run_1", "wsp_1", routes)).toBeUndefined();
  expect(resourcePath("constructor", "wsp_1", routes)).toBeUndefined();
});
