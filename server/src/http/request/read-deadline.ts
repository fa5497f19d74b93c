import { elapsed, within } from "../../base/clock.ts";
import { type Database, databaseUnavailable, limitStatements } from "../../base/database/index.ts";

/**
 * Time for the database reads of one request. The server responds to reads within 5 s; the
 * remaining second is a reserve for a busy machine. Statements with a shorter limit of their own,
 * for run statistics and usage reports, end before this deadline.
 */
const maxReadMs = 4_000;

/**
 * Time from the deadline until PostgreSQL cancels a statement. So callers always get the error of
 * the deadline, which does not count as an outage of the database's connection.
 */
const cancelMs = 500;

/** Limits the database reads of one request to `maxReadMs` in total. */
export interface ReadDeadline {
  /**
   * Returns the result of a read. It is not for writes: after the limit it would not be known
   * whether a write succeeded.
   * @throws ApiError `unavailable`, as rejection, when the time has passed
   */
  readonly limit: <T>(read: Promise<T>) => Promise<T>;
  /**
   * Returns the database with a pool `tenant` whose statements PostgreSQL cancels soon after the
   * deadline. Otherwise a slow statement would occupy its connection long after its caller has got
   * the error.
   */
  readonly cancelLate: (database: Database) => Database;
  /** Ends the deadline. Later statements, such as those of an export's lines, are not cancelled. */
  readonly end: () => void;
}

/** Starts the deadline of one request. */
export function readDeadline(): ReadDeadline {
  const began = elapsed();
  const remainingMs = () => maxReadMs - (elapsed() - began);
  let hasEnded = false;
  const timeoutMs = () => (hasEnded ? undefined : Math.max(1, Math.ceil(remainingMs() + cancelMs)));
  return {
    limit: (read) =>
      within(read, remainingMs(), () =>
        databaseUnavailable(new Error("a read was not answered in time")),
      ),
    cancelLate: (database) => ({
      ...database,
      tenant: limitStatements(database.tenant, timeoutMs),
    }),
    end: () => {
      hasEnded = true;
    },
  };
}
