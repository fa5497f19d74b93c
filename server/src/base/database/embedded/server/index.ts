export { cleanUpAfterCrash } from "./clean-up-after-crash.ts";
export { keepRunning, type SupervisedPostmaster } from "./keep-running.ts";
export { openLogFile } from "./log-file.ts";
export { readPostmasterFile } from "./postmaster-file.ts";
export { runPostmaster } from "./run-postmaster.ts";
