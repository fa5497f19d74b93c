import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Kinds of tests, told apart by their names:
 *   *.test.ts      needs no database
 *   *.db.test.ts   needs one, and passes on both: PostgreSQL inside (socket, ordinary role) and external (TCP, superuser)
 *   e2e/*.test.ts  starts the server and talks to it over HTTP; in e2e/web, in a browser
 */

/** Property tests of one run share a seed. `FAST_CHECK_SEED=<seed> script/test` repeats what failed. */
const seed = Number(process.env.FAST_CHECK_SEED ?? Math.floor(Math.random() * 2 ** 31));
// Not when another tool reads these settings.
if (process.env.VITEST === "true") console.log(`FAST_CHECK_SEED=${seed}`);

const databaseTests = ["server/src/**/*.db.test.ts", "server/test/**/*.db.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    // Database tests wait more than they compute, so two at a time pay even on one core.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // A test that runs alone hides the others.
    allowOnly: false,
    // An error that nobody caught is a failure, whatever the tests say.
    dangerouslyIgnoreUnhandledErrors: false,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    env: { FAST_CHECK_SEED: String(seed) },
    setupFiles: ["server/test/seed.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "contract/src/**/*.test.ts",
            "server/src/**/*.test.ts",
            "client/src/**/*.test.ts",
            "web/src/**/*.test.{ts,tsx}",
            "script/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          exclude: ["**/*.db.test.ts", "**/node_modules/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "embedded",
          include: databaseTests,
          globalSetup: ["server/test/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "external",
          include: databaseTests,
          globalSetup: ["server/test/global-setup.ts"],
        },
      },
      {
        extends: true,
        // After the others: journeys start whole servers and measure waits.
        test: {
          name: "e2e",
          include: ["e2e/*.test.ts"],
          globalSetup: ["e2e/web/global-setup.ts", "server/test/global-setup.ts"],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["e2e/web/**/*.test.ts"],
          globalSetup: ["e2e/web/global-setup.ts", "server/test/global-setup.ts"],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
