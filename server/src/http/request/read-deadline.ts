import { elapsed, within } from "../../base/clock.ts";
import { databaseUnavailable } from "../../base/database/index.ts";

/** A read is promised an answer in 5 s; the rest is for a busy machine. */
const maxReadMs = 4_000;

/**
 * Limits what one request reads to `maxReadMs` in all, whatever part of it the database leaves unanswered. Not for a change, whose
 * outcome would not be known.
 * @throws ApiError `unavailable`
 */
export function readDeadline(): <T>(read: Promise<T>) => Promise<T> {
  const began = elapsed();
  return (read) =>
    within(read, maxReadMs - (elapsed() - began), () =>
      databaseUnavailable(new Error("a read was not answered in time")),
    );
}
