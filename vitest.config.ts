import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./server/test/longest-first.ts";

/**
 * Kinds of tests, told apart by their names:
 *   *.test.ts          needs no database
 *   *.db.test.ts       needs one, and runs on both kinds: embedded (socket, ordinary role) and
 *                      external (TCP, superuser). `runsOnce` names the exceptions.
 *   e2e/*.test.ts      starts the server and calls it over HTTP
 *   e2e/web/*.test.ts  tests the dashboard in a browser
 */

/**
 * Seed of all property tests. It is fixed, so that a test that begins to fail fails because of a
 * change of the code. `FAST_CHECK_SEED=random script/test` tests other values and prints its seed,
 * which repeats the same values.
 */
const given = process.env.FAST_CHECK_SEED ?? "1";
const seed = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
// Other tools read this file too, and must not print the seed.
if (process.env.VITEST === "true") console.log(`FAST_CHECK_SEED=${seed}`);

const databaseTests = ["server/src/**/*.db.test.ts", "server/test/**/*.db.test.ts"];

/** Long tests whose results do not depend on the kind of database. */
const longOnes = [
  "server/src/accounts/sessions.db.test.ts",
  "server/src/accounts/shared-address.db.test.ts",
  "server/src/runs/broken-database.db.test.ts",
  "server/src/runs/lost-replies.db.test.ts",
];

/**
 * Tests of http/ call operations whose own tests run on both databases. So each of these files, and
 * of `longOnes`, runs on one of the two only, chosen by its path. Those of tenancy run on both,
 * because row-level security depends on the role. `EVERY_DATABASE=1` runs all files on both.
 */
const runsOnce = (file: string) =>
  ((file.startsWith("server/src/http/") && !file.includes("tenancy")) || longOnes.includes(file)) &&
  process.env.EVERY_DATABASE !== "1";
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

export default defineConfig({
  test: {
    pool: "forks",
    // Tests wait about a third of the time: for timeouts, commits and processes. So there is one
    // process more than cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    // Vitest's default of one second is too short for a page on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
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
          experimental,
          isolate,
          setupFiles: ["e2e/each-file.ts"],
          include: ["e2e/web/**/*.test.ts"],
          globalSetup: ["e2e/web/global-setup.ts", "server/test/global-setup.ts"],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
