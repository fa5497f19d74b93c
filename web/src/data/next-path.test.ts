import { expect, test } from "vitest";
import { nextPath } from "./next-path.ts";

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
