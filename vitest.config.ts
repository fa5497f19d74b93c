import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./server/test/longest-first.ts";

/**
 * Kinds of tests, distinguished by their names:
 *   *.test.ts          needs no database
 *   *.db.test.ts       needs a database, which is embedded (socket, ordinary role) or external (TCP,
 *                      superuser). `onBothKinds` names the files that run on both.
 *   e2e/*.test.ts      starts the server and calls it over HTTP
 *   e2e/web/*.test.ts  tests the dashboard in a browser
 */

/**
 * Seed of all property tests and random faults. It is fixed, so that a test that begins to fail
 * fails because of a change of the code. `FAST_CHECK_SEED=random script/test` tests other values and
 * prints its seed, which repeats the same values.
 */
const given = process.env.FAST_CHECK_SEED ?? "1";
const seed = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
// Other tools, such as Knip, load this file too, and must not print the seed.
if (process.env.VITEST === "true") console.log(`FAST_CHECK_SEED=${seed}`);

const databaseTests = ["server/src/**/*.db.test.ts", "server/test/**/*.db.test.ts"];

/**
 * Database tests that run on both kinds of database, because their results can depend on it: those
 * of connections, migrations and the database's process, and those of the separation of workspaces,
 * since row-level security depends on the role.
 */
const onBothKinds = [
  /^server\/src\/base\//,
  /^server\/src\/processes\//,
  /^server\/test\//,
  /tenancy|other-workspace|default-workspace|growing-tables|master-key|first-owner/,
  /upgrade|reconcile/,
];

/**
 * Returns whether a file of database tests runs on only one of the two kinds of database, which
 * `databaseOf` chooses. With `EVERY_DATABASE=1` all files run on both.
 */
const runsOnce = (file: string) =>
  !onBothKinds.some((each) => each.test(file)) && process.env.EVERY_DATABASE !== "1";
type DatabaseKind = "embedded" | "external";
const databaseOf = (file: string): DatabaseKind =>
  (createHash("sha256").update(file).digest()[0] ?? 0) % 2 === 0 ? "embedded" : "external";
const exceptThoseOf = (other: DatabaseKind) => [
  "**/node_modules/**",
  ...globSync(databaseTests, { exclude: ["**/node_modules/**"] }).filter(
    (file) => runsOnce(file) && databaseOf(file) === other,
  ),
];

/**
 * Node.js loads the modules itself, which takes less CPU than loading them through Vite. Only tests
 * of the dashboard's sources need Vite.
 */
const experimental = { viteModuleRunner: false };

/**
 * Test files of a project share processes, and the modules that these have loaded: starting a
 * process and loading the server would take a second of CPU per file. Each file has its own
 * database and servers, and stops them. Modules keep no state that tests can observe; what test
 * helpers keep for one file is reset in the files `each-file.ts`.
 */
const isolate = false;

/** Maximum number of processes for tests that start whole servers, which need CPU of their own. */
const maxServerWorkers = availableParallelism() + 1;

export default defineConfig({
  test: {
    pool: "forks",
    // More processes than cores, because tests spend about a third of the time waiting for
    // timeouts, commits and other processes.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // Only a test that hangs needs them: on a busy machine, a test takes several times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Vitest's default of one second is too short for a busy machine.
    expect: { poll: { timeout: 25_000 } },
    teardownTimeout: 30_000,
    // A test marked with `only` would hide the others.
    allowOnly: false,
    // An uncaught error fails the run, even if all tests pass.
    dangerouslyIgnoreUnhandledErrors: false,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    env: { FAST_CHECK_SEED: String(seed) },
    setupFiles: ["server/test/each-file.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "contract/src/**/*.test.ts",
            "server/src/**/*.test.ts",
            "server/test/**/*.test.ts",
            "client/src/**/*.test.ts",
            "cli/src/**/*.test.ts",
            "script/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          exclude: ["**/*.db.test.ts", "**/node_modules/**"],
          experimental,
          isolate,
        },
      },
      {
        extends: true,
        test: { name: "web", include: ["web/src/**/*.test.{ts,tsx}"] },
      },
      {
        extends: true,
        test: {
          name: "embedded",
          include: databaseTests,
          exclude: exceptThoseOf("external"),
          experimental,
          isolate,
          globalSetup: ["server/test/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "external",
          include: databaseTests,
          exclude: exceptThoseOf("embedded"),
          experimental,
          isolate,
          globalSetup: ["server/test/global-setup.ts"],
        },
      },
      {
        extends: true,
        // These tests run after those of the projects above, because they start whole servers and
        // measure waits. `groupOrder` sets the order.
        test: {
          name: "e2e",
          maxWorkers: maxServerWorkers,
          experimental,
          isolate,
          setupFiles: ["e2e/each-file.ts"],
          include: ["e2e/*.test.ts"],
          globalSetup: ["e2e/web/global-setup.ts", "server/test/global-setup.ts"],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          maxWorkers: maxServerWorkers,
          experimental,
          isolate,
          // The longest tests go through many pages.
          testTimeout: 300_000,
          setupFiles: ["e2e/each-file.ts"],
          include: ["e2e/web/**/*.test.ts"],
          globalSetup: ["e2e/web/global-setup.ts", "server/test/global-setup.ts"],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
