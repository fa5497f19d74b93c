import { elapsed } from "../clock.ts";

/** How an outage of one kind is written to the log. */
export interface OutageLines<Fields> {
  /**
   * Writes a line about the failure. Called at the first failure, then at most once a minute.
   * @param count number of failures since the last line, including this one
   */
  readonly failed: (fields: Fields, count: number) => void;
  /**
   * Writes a line about the end of the outage.
   * @param fields the fields of the last failure
   * @param count number of all failures of the outage
   * @param durationMs time from the first to the last failure
   */
  readonly worksAgain: (fields: Fields, count: number, durationMs: number) => void;
  /**
   * Minimum milliseconds between the last failure and the success that ends the outage. In many
   * outages some calls still succeed. Without this time, each of them would end the outage and
   * write a line, and the next failure would write another one.
   */
  readonly quietMs: number;
}

interface Outage<Fields> {
  readonly since: number;
  total: number;
  /** Number of failures since the last line was written. */
  unwritten: number;
  writtenAt: number;
  failedAt: number;
  last: Fields;
}

/** Time from one line about an outage to the next, in milliseconds. */
const repeatMs = 60_000;
/** Maximum outages of one kind. When there are more, the oldest one is dropped. */
const maxOutages = 1_000;

/**
 * Limits the log lines about a failure that repeats: one line for the first failure, one per minute
 * with a count, and one when the outage is over. Without a limit, an outage of a few seconds would
 * fill the log.
 */
export class OutageLog<Fields> {
  readonly #lines: OutageLines<Fields>;
  readonly #now: () => number;
  readonly #outages = new Map<string, Outage<Fields>>();

  /** @param now returns a time in milliseconds */
  constructor(lines: OutageLines<Fields>, now: () => number = elapsed) {
    this.#lines = lines;
    this.#now = now;
  }

  /** Must be called after each failure. `key` names what fails; it is not written to the log. */
  failed(key: string, fields: Fields): void {
    const now = this.#now();
    const outage = this.#outages.get(key);
    if (outage === undefined) {
      const [oldest] = this.#outages.size < maxOutages ? [] : this.#outages.keys();
      if (oldest !== undefined) this.#outages.delete(oldest);
      this.#outages.set(key, {
        since: now,
        total: 1,
        unwritten: 0,
        writtenAt: now,
        failedAt: now,
        last: fields,
      });
      this.#lines.failed(fields, 1);
      return;
    }
    outage.total++;
    outage.unwritten++;
    outage.failedAt = now;
    outage.last = fields;
    if (now - outage.writtenAt < repeatMs) return;
    this.#lines.failed(fields, outage.unwritten);
    outage.unwritten = 0;
    outage.writtenAt = now;
  }

  /** Must be called after successes. Costs almost nothing while there is no outage. */
  succeeded(key: string): void {
    if (this.#outages.size === 0) return;
    const outage = this.#outages.get(key);
    if (outage === undefined) return;
    const now = this.#now();
    if (now - outage.failedAt < this.#lines.quietMs) return;
    this.#outages.delete(key);
    this.#lines.worksAgain(outage.last, outage.total, Math.round(outage.failedAt - outage.since));
  }
}
