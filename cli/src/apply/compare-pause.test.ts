import { expect, test } from "vitest";
import { UsageError } from "../terminal.ts";
import { comparePause } from "./compare-pause.ts";

const running = { paused: false, pause_reason: null };
const paused = { paused: true, pause_reason: "Holidays" };

test.each([
  ["omits both", {}, paused, undefined, []],
  ["has the same values", paused, paused, undefined, []],
  ["pauses", { paused: true }, running, "pause", ["paused"]],
  ["pauses with a reason", paused, running, "pause", ["paused", "pause_reason"]],
  ["resumes", { paused: false }, paused, "resume", ["paused"]],
  ["resumes and has no reason", running, paused, "resume", ["paused"]],
  ["has another reason", { ...paused, pause_reason: "Audit" }, paused, "pause", ["pause_reason"]],
  ["has only another reason", { pause_reason: "Audit" }, paused, "pause", ["pause_reason"]],
  ["removes the reason", { ...paused, pause_reason: null }, paused, "pause", ["pause_reason"]],
  ["has no reason for a running agent", { pause_reason: null }, running, undefined, []],
] as const)("a file that %s", (_name, inFile, exported, request, fields) => {
  const change = comparePause({ name: "A", ...inFile }, exported);
  expect([change.request, change.fields]).toEqual([request, fields]);
  if (request === "pause")
    expect(change.reason).toBe("pause_reason" in inFile ? inFile.pause_reason : null);
});

test.each([
  [{ pause_reason: "Audit" }, running],
  [{ paused: false, pause_reason: "Audit" }, paused],
])("a reason without a pause is rejected: %j", (inFile, exported) => {
  expect(() => comparePause({ name: "A", ...inFile }, exported)).toThrow(UsageError);
});
