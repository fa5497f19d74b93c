import type { NewEvent } from "@beckon/contract";

// A journal reports all model calls that the run's processes sent before the last claim, if it
// matches `endOfClaimed`. For this, each event is one letter: `q` is a `run.queued` with
// `calls_reported`, `r` is a `run.resumed`, and `x` is any other event. The engine checks this in
// memory, and statements check it in SQL, so both forms are here.

/**
 * Matches a journal that ends with one or more releases, each followed by a claim (`qr`). A claim
 * before the first of these releases does not match: in `xrqr`, a process took the run over from a
 * lost one (`xr`) and wrote nothing before it released the run, so the call of the lost process may
 * not be reported.
 */
const endOfClaimed = /(^|x)(qr)+$/;
/** Matches a journal that ends with a release, and that `endOfClaimed` matches after a claim. */
const endOfReleased = /(^|x)(qr)*q$/;

function letterOf({ type, data }: NewEvent): string {
  if (type === "run.queued" && data.calls_reported) return "q";
  return type === "run.resumed" ? "r" : "x";
}

/**
 * Returns whether a journal that ends with a claim reports all model calls that the run's earlier
 * processes sent.
 */
export function areAllReported(entries: readonly NewEvent[]): boolean {
  return endOfClaimed.test(entries.map(letterOf).join(""));
}

/**
 * Returns an SQL expression that aggregates rows of `events` to the letters of a journal, for
 * `areReportedAtClaim` and `areReportedAtRelease`.
 * @param event alias of the table `events`.
 */
export const journalLetters = (event: string) => `string_agg(case
          when ${event}.type = 'run.resumed' then 'r'
          when ${event}.type = 'run.queued' and ${event}.data ? 'calls_reported' then 'q'
          else 'x' end, '' order by ${event}.seq)`;

/** Returns an SQL condition like `areAllReported`. */
export const areReportedAtClaim = (letters: string) => `${letters} ~ '${endOfClaimed.source}'`;

/**
 * Returns an SQL condition that is true if a journal ends with a release, and reports all model
 * calls that the run's processes sent.
 */
export const areReportedAtRelease = (letters: string) => `${letters} ~ '${endOfReleased.source}'`;
