/** An agent is failing if at least this share of its runs failed. */
const minShare = 0.5;

/**
 * Returns whether an agent is failing. A few failed runs among many others do not count as failing.
 * @param ended number of runs that succeeded or failed
 */
export function isFailing(failed: number, ended: number): boolean {
  return failed > 0 && failed / ended >= minShare;
}
