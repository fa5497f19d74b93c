import { elapsed, within } from "../../base/clock.ts";
import { databaseUnavailable } from "../../base/database/index.ts";

/** Reads respond within 5 s; the remaining second is for a busy machine. */
const maxReadMs = 4_000;

/**
 * Returns a function that limits the database reads of one request to `maxReadMs` in total. Not for
 * writes, whose outcome would be unknown.
 * @throws ApiError `unavailable`, as rejection, when the time has passed
 */
export function readDeadline(): <T>(read: Promise<T>) => Promise<T> {
  const began = elapsed();
  return (read) =>
    within(read, maxReadMs - (elapsed() - began), () =>
      databaseUnavailable(new Error("a read was not answered in time")),
    );
}
