import { elapsed, within } from "../../base/clock.ts";
import { databaseUnavailable } from "../../base/database/index.ts";

/**
 * Time for the database reads of one request. The server responds to reads within 5 s; the
 * remaining second is a reserve for a busy machine. Statements with a shorter limit of their own,
 * for run statistics and usage reports, end before this deadline.
 */
const maxReadMs = 4_000;

/**
 * Returns a function that limits the database reads of one request to `maxReadMs` in total. It is
 * not for writes: after the limit it would not be known whether a write succeeded.
 * @throws ApiError `unavailable`, as rejection of a read, when the time has passed
 */
export function readDeadline(): <T>(read: Promise<T>) => Promise<T> {
  const began = elapsed();
  return (read) =>
    within(read, maxReadMs - (elapsed() - began), () =>
      databaseUnavailable(new Error("a read was not answered in time")),
    );
}
