import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take much longer than others of their project, the longest first. */
const longest = [
  "server/src/supervise.test.ts",
  "e2e/usage-crash.test.ts",
  "e2e/crash.test.ts",
  "e2e/failover.test.ts",
  "e2e/pack.test.ts",
  "e2e/request-crash.test.ts",
  "e2e/delivery-crash.test.ts",
  "e2e/cli.test.ts",
  "e2e/web/accessibility.test.ts",
  "e2e/web/subscriptions.test.ts",
  "e2e/web/received-requests.test.ts",
  "e2e/web/playground.test.ts",
  "e2e/web/xss.test.ts",
  "e2e/web/settings.test.ts",
];

const root = resolve(import.meta.dirname, "../..");

/**
 * Starts the longest files of each project first. Otherwise a long file that starts last leaves all
 * other processes without work. Vitest starts the largest files first, but the size of a file says
 * little about its duration.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const missing = longest.filter((file) => !existsSync(resolve(root, file)));
    if (missing.length > 0) throw new Error(`remove from longest-first.ts: ${missing.join(", ")}`);
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project);
    return [...byProject.values()].flatMap((specifications) =>
      specifications.toSorted((one, other) => rank(one) - rank(other)),
    );
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.indexOf(relative(root, moduleId));
  return index === -1 ? longest.length : index;
}
