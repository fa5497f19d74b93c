/** The fields of Vitest's JSON report that the summary uses. */
export interface TestReport {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    /** Unix times in milliseconds. */
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Returns a summary in one line. A file that could not be loaded counts as one failed test, and so
 * does a non-zero exit code without a failed test (an unhandled error, or a crash before the report
 * was written).
 * @param report Undefined if Vitest wrote no report.
 * @param exitCode Vitest's exit code.
 */
export function summarize(report: TestReport | undefined, exitCode: number): string {
  const files = report?.testResults ?? [];
  const states = files.flatMap((file) => file.assertionResults.map((result) => result.status));
  const passed = states.filter((state) => state === "passed").length;
  const failedTests = states.filter((state) => state === "failed").length;
  const failedFiles = files.filter(
    (file) =>
      file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed"),
  );
  const failed = failedTests + failedFiles.length;
  const skipped = states.length - passed - failedTests;
  return `tests: ${passed} passed, ${failed === 0 && exitCode !== 0 ? 1 : failed} failed, ${skipped} skipped`;
}

/**
 * Returns a line that says how long the browser tests took, from the first one to the last;
 * undefined if none were run. Their limit is 7 minutes on 2 cores. A longer time is no failure,
 * because it depends on the machine and on what else runs there.
 */
export function browserDuration(report: TestReport | undefined): string | undefined {
  const files = (report?.testResults ?? []).filter(({ name }) => name.includes("/e2e/web/"));
  if (files.length === 0) return undefined;
  const start = Math.min(...files.map(({ startTime }) => startTime));
  const end = Math.max(...files.map(({ endTime }) => endTime));
  return `browser tests: ${Math.round((end - start) / 1_000)} s (limit on 2 cores: 420 s)`;
}
