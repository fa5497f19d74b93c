import { configureGlobal } from "fast-check";
import { afterAll } from "vitest";
import { forgetTaken } from "./reserved-ports.ts";

/** Runs before every test file, even if several files share a process. */

/** All property tests use the seed that vitest.config.ts printed when the tests started. */
configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED) });

afterAll(forgetTaken);
