/**
 * How long rows are kept, in days of 24 hours, each a setting of the operator. 0: for ever. Rows
 * are deleted some time after that.
 */
export interface Retention {
  /** Of runs, since they ended. A workspace can keep its runs for a shorter time. */
  readonly runsDays: number;
  /** Of Idempotency-Keys, with the responses that are stored with them. */
  readonly idempotencyDays: number;
  /** Of deliveries that are not pending, with their attempts. */
  readonly deliveriesDays: number;
  /** Of the requests that triggers received. */
  readonly requestsDays: number;
  /** Of sessions, since they expired. */
  readonly sessionsDays: number;
  /** Of invitations and of links for a new password, since they expired. */
  readonly invitationsDays: number;
  /** Of the audit log; 0, or at least 30. */
  readonly auditDays: number;
}

/** Minimum days that a workspace can choose for its runs. */
export const minRunDays = 7;

/**
 * Returns the days for which a workspace keeps runs that have ended; 0 if for ever.
 * @param chosenDays what the workspace has chosen; null if nothing. The operator can have set a
 *   shorter time since.
 */
export function runDaysOf(
  { runsDays }: Pick<Retention, "runsDays">,
  chosenDays: number | null,
): number {
  if (chosenDays === null) return runsDays;
  return runsDays === 0 ? chosenDays : Math.min(runsDays, chosenDays);
}

/** Returns the time before which rows are older than `days`. */
export function daysBefore(days: number, now: Date = new Date()): Date {
  return new Date(now.getTime() - days * 24 * 3_600_000);
}
