import { elapsed } from "../base/clock.ts";
import {
  countedAs,
  maxStoredPerMinute,
  type RecordResult,
  type RecordRow,
  type SentRow,
} from "./record-statement.ts";

/**
 * The triggers and outcomes of which a minute has its maximum of stored requests. Further requests
 * of that minute are sent to the database without their bodies, which it would discard.
 */
export interface FullCounts {
  /** Returns the row to send: without its body if the database would not store it. */
  toSend(row: RecordRow): SentRow;
  /**
   * Reads the counts that the statement returned.
   * @param sentAtMs time before the statement was sent, in milliseconds of `elapsed()`
   */
  note(rows: readonly SentRow[], results: readonly RecordResult[], sentAtMs: number): void;
}

/** Maximum number of counts that are remembered; the bodies of others are sent. */
const maxKeys = 10_000;

/** Creates the counts of one process, at first none. */
export function createFullCounts(): FullCounts {
  const keys = new Set<string>();
  /** The minute of `keys` as a Unix time, and its end in milliseconds of `elapsed()`. */
  let minute = 0;
  let endsAtMs = 0;
  return {
    toSend(row) {
      if (elapsed() >= endsAtMs || !keys.has(keyOf(row))) return { ...row, fullMinute: null };
      // The row names its minute. If the statement is executed in the next one, the request neither
      // counts there nor is stored there without its body.
      return { ...row, request: { ...row.request, body: null }, fullMinute: minute };
    },
    note(rows, results, sentAtMs) {
      for (const [index, row] of rows.entries()) {
        const result = results[index];
        // A row that names its minute says nothing about the minute of the statement.
        if (row.fullMinute !== null || result === undefined || result.minute === null) continue;
        if (result.minute !== minute) {
          keys.clear();
          minute = result.minute;
          // The statement began after `sentAtMs`, so the minute does not end before this time.
          endsAtMs = sentAtMs + result.minute_left_ms;
        }
        if ((result.count ?? 0) >= maxStoredPerMinute && keys.size < maxKeys) keys.add(keyOf(row));
      }
    },
  };
}

const keyOf = ({ request }: RecordRow) => `${request.triggerId} ${countedAs(request)}`;
