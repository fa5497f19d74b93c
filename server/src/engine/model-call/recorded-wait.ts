import type { RunRequest } from "../run-request.ts";

/** Shorter waits are not recorded, because each record takes two writes. In milliseconds. */
const minRecordedMs = 1_000;

/**
 * Resolves like `wait`, during which no request is sent. If it takes a second or more, `record` is
 * called, and called again when it is over.
 *
 * Resolves only when the record is removed: if the process were lost during the next attempt, its
 * usage would not be estimated. If the wait fails, the record stays, because no attempt follows.
 * If the run was stopped meanwhile, no attempt may follow either: it would be estimated as lost.
 *
 * @param signal the signal of the run.
 * @param record see `RunRequest.recordWait`. If it is undefined, nothing is recorded.
 * @param onFailure called with the result of `wait` if removing the record throws, or `signal` has
 *   aborted afterwards.
 * @throws the error of `wait`, the one of removing the record, or the reason of `signal`.
 */
export async function recordedWait<T>(
  wait: Promise<T>,
  signal: AbortSignal,
  record: RunRequest["recordWait"],
  onFailure: (result: T) => void = () => {},
): Promise<T> {
  if (record === undefined) return wait;
  let recorded: Promise<void> | undefined;
  const timer = setTimeout(() => {
    // Without the record, a call is estimated if the process is lost, as before the wait.
    recorded = record(true).catch(() => {});
  }, minRecordedMs);
  const result = await wait.finally(() => clearTimeout(timer));
  if (recorded === undefined) return result;
  try {
    await recorded;
    await record(false);
    signal.throwIfAborted();
  } catch (thrown) {
    onFailure(result);
    throw thrown;
  }
  return result;
}
