import { expect, test } from "vitest";
import { nextPath, workspaceIn } from "./next-path.ts";

test("after a sign-in the page of a workspace is opened", () => {
  const path = "/w/wsp_01/runs?status=failed#top";
  expect(nextPath(path)).toBe(path);
});

test.each([
  undefined,
  "",
  "/",
  "/sign-in",
  "/w/",
  "/w//evil.example",
  "/w/..//evil.example",
  "//evil.example/w/wsp_01",
  "/\\evil.example/w/wsp_01",
  "https://evil.example/w/wsp_01",
  "javascript:alert(1)",
  " /w/wsp_01",
])("after a sign-in %j is not followed", (next) => {
  expect(nextPath(next)).toBeUndefined();
});

test.each([
  ["/w/wsp_01", "wsp_01"],
  ["/w/wsp_01/runs?status=failed#top", "wsp_01"],
  ["/w/wsp_01?next=/w/wsp_02", "wsp_01"],
  ["/", undefined],
])("the workspace of the path %j is %j", (path, id) => {
  expect(workspaceIn(path)).toBe(id);
});
