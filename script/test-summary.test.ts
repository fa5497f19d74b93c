import { expect, test } from "vitest";
import { browserDuration, summarize } from "./test-summary.ts";

const file = (status: string, ...states: string[]) => ({
  name: "/checkout/server/src/index.test.ts",
  startTime: 0,
  endTime: 1_000,
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

test("the time of the browser tests is that from the first to the last of them", () => {
  const web = { ...file("passed"), name: "/checkout/e2e/web/runs.test.ts" };
  const report = {
    testResults: [
      { ...file("passed"), startTime: 0, endTime: 900_000 },
      { ...web, startTime: 120_000, endTime: 300_000 },
      { ...web, startTime: 100_000, endTime: 200_400 },
    ],
  };
  expect(browserDuration(report)).toBe("browser tests: 200 s (limit on 2 cores: 420 s)");
});

test("without browser tests no time of theirs is shown", () => {
  expect(browserDuration({ testResults: [file("passed", "passed")] })).toBeUndefined();
  expect(browserDuration(undefined)).toBeUndefined();
});
