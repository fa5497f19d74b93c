/**
 * The optional parts of the start statement. A part is included only if at least one request of the
 * batch needs it: most parts add a join, which costs as much time as several more rows.
 */
export interface Parts {
  readonly triggers: boolean;
  readonly keys: boolean;
  readonly details: boolean;
  readonly labels: boolean;
  readonly callbacks: boolean;
  /**
   * Whether the limits of the callers' workspaces are checked. Without this part, requests to
   * workspaces that have limits get the result `limited`.
   */
  readonly limits: boolean;
  /**
   * Whether requests to triggers are stored, and the senders' event ids are bound to the runs: see
   * `received-parts.ts`.
   */
  readonly received: boolean;
  /** Whether the requests have files, which become artifacts of the runs. */
  readonly files: boolean;
  /**
   * Whether deliveries to subscriptions are written. Without this part, nothing is written if any
   * workspace has a subscription, and requests that would start a run get the result `subscribed`.
   */
  readonly deliveries: boolean;
  /** Whether an earlier call may already have written some rows of the batch. */
  readonly repeated: boolean;
}

/** The names of all parts, in the order of the names of the statement's variants. */
export const partNames = [
  "triggers",
  "keys",
  "details",
  "labels",
  "callbacks",
  "limits",
  "received",
  "files",
  "deliveries",
  "repeated",
] as const satisfies readonly (keyof Parts)[];
