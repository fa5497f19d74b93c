import { expect, test } from "vitest";
import { summarize } from "./test-summary.ts";

const file = (status: string, ...states: string[]) => ({
  status,
  assertionResults: states.map((state) => ({ status: state })),
});

test("counts what passed, failed and did not run", () => {
  const report = {
    testResults: [file("passed", "passed", "pending"), file("failed", "passed", "failed", "todo")],
  };
  expect(summarize(report, 1)).toBe("tests: 2 passed, 1 failed, 2 skipped");
});

test("a file that could not be loaded is a failure", () => {
  expect(summarize({ testResults: [file("passed", "passed"), file("failed")] }, 1)).toBe(
    "tests: 1 passed, 1 failed, 0 skipped",
  );
});

test("a non-zero exit code without a failed test counts as a failure", () => {
  expect(summarize({ testResults: [file("passed", "passed")] }, 1)).toBe(
    "tests: 1 passed, 1 failed, 0 skipped",
  );
  expect(summarize(undefined, 137)).toBe("tests: 0 passed, 1 failed, 0 skipped");
});
