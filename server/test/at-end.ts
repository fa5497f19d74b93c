import { afterAll, onTestFinished, TestRunner } from "vitest";

/**
 * Calls `close` when the test that is running has ended, or, if none is running, when the tests of
 * the file or of the `describe` block have ended. In a running test, Vitest ignores `afterAll`, and
 * what it should close would run on during the other files of the process.
 */
export function atEnd(close: () => Promise<unknown>): void {
  const end = async () => void (await close());
  if (TestRunner.getCurrentTest() === undefined) afterAll(end);
  else onTestFinished(end);
}
