import { configureGlobal } from "fast-check";

/** Every property test of a run uses the seed that the run printed at its start. */
configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED) });
