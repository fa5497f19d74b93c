import { configureGlobal } from "fast-check";
import { afterAll } from "vitest";
import { forgetTaken } from "./reserved-ports.ts";

/** Runs before every test file, also before those that share a process with others. */

/** Every property test of a run uses the seed that the run printed at its start. */
configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED) });

afterAll(forgetTaken);
