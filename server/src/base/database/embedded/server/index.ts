export { clearTheWay } from "./clear-the-way.ts";
export { type KeptPostmaster, keepRunning } from "./keep-running.ts";
export { openLogFile } from "./log-file.ts";
export { runPostmaster } from "./run-postmaster.ts";
