/**
 * The names of all parts. The name of a variant of the statement lists its parts in this order, for
 * example `start:triggers:keys`.
 */
export const partNames = [
  "triggers",
  "keys",
  "details",
  "labels",
  "callbacks",
  /**
   * The limits of the callers' workspaces are checked. Without this part, requests to workspaces
   * that have limits start nothing and get the result `limited`. They are sent again with this
   * part.
   */
  "limits",
  /**
   * What the first model calls of runs can use is reserved: see `reserveFirstCalls`. This part is
   * included only together with `limits`.
   */
  "firstCalls",
  /**
   * Requests to triggers are stored, and the senders' event ids are bound to the runs: see
   * `received-sql.ts`.
   */
  "received",
  /** The requests have files, which become artifacts of the runs. */
  "files",
  /**
   * Deliveries to subscriptions are written. Without this part, nothing is written if any workspace
   * has a subscription. Requests that would be written, because they would start a run or because a
   * filter rejects them, then get the result `subscribed`, and the batch is sent again with this
   * part.
   */
  "deliveries",
  /** The batch is sent again: an earlier call may already have written some of its rows. */
  "resent",
] as const;

/**
 * The optional parts of the start statement. A part is included only if at least one request of the
 * batch needs it: most parts add a join, which costs as much time as several more rows.
 */
export type Parts = Readonly<Record<(typeof partNames)[number], boolean>>;
