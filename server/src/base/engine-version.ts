/**
 * What this code can execute: kept with each run and each process, and raised when a journal written by the new code
 * cannot be continued by the old.
 */
export const engineVersion = 1;
