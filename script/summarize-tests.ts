import { existsSync, readFileSync } from "node:fs";
import { browserDuration, summarize, type TestReport } from "./test-summary.ts";

/**
 * Usage: node script/summarize-tests.ts <report.json> <exit code of Vitest>. Prints how
 * long the browser tests took, then the summary.
 */
const [reportFile, exitCode] = process.argv.slice(2);
if (reportFile === undefined || exitCode === undefined)
  throw new Error("usage: node script/summarize-tests.ts <report.json> <exit code>");

const report: TestReport | undefined = existsSync(reportFile)
  ? JSON.parse(readFileSync(reportFile, "utf8"))
  : undefined;
const duration = browserDuration(report);
if (duration !== undefined) console.log(duration);
console.log(summarize(report, Number(exitCode)));
