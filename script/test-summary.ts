/** The fields of Vitest's JSON report that the summary uses. */
export interface TestReport {
  readonly testResults: readonly {
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
