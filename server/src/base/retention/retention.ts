/**
 * How long rows are kept, by the operator's settings. A day has 24 hours; 0 days means for ever. A
 * row is not deleted at once when these days are over, but some time later.
 */
export interface Retention {
  /**
   * Days for which runs are kept after they ended. A workspace can keep its runs for a shorter
   * time.
   */
  readonly runsDays: number;
  /** Days for which Idempotency-Keys and the responses stored with them are kept. */
  readonly idempotencyDays: number;
  /** Days for which deliveries that are not pending, and their attempts, are kept. */
  readonly deliveriesDays: number;
  /** Days for which the requests that triggers received are kept. */
  readonly requestsDays: number;
  /** Days for which sessions are kept after they expired. */
  readonly sessionsDays: number;
  /** Days for which invitations and links for a new password are kept after they expired. */
  readonly invitationsDays: number;
  /** Days for which entries of the audit log are kept; 0 for ever, otherwise at least 30. */
  readonly auditDays: number;
  /**
   * Days for which single entries of the usage ledger are kept; 0 for ever, otherwise at least 62.
   */
  readonly usageDays: number;
}

/** Minimum days that a workspace can choose for its runs. */
export const minRunDays = 7;

/**
 * Returns the days for which a workspace keeps runs that have ended; 0 if for ever.
 * @param chosenDays the days that the workspace has chosen; null if it has chosen none. If the
 *   operator has set a shorter time since, the operator's time applies.
 */
export function runDaysOf(
  { runsDays }: Pick<Retention, "runsDays">,
  chosenDays: number | null,
): number {
  if (chosenDays === null) return runsDays;
  return runsDays === 0 ? chosenDays : Math.min(runsDays, chosenDays);
}

/**
 * Returns the time that is `days` times 24 hours before `now`. Rows from before this time are older
 * than `days`.
 */
export function daysBefore(days: number, now: Date): Date {
  return new Date(now.getTime() - days * 24 * 3_600_000);
}

/** Days for which a deleted agent can be restored. Its secrets are deleted after that. */
export const restorableDays = 30;
