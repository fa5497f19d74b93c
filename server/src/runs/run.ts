/**
 * The states of a run:
 *
 *     queued ──claim──▶ running ──end──▶ succeeded | failed | cancelled
 *        ▲                │  │
 *        └────release─────┘  └─ owner died: claimed again, attempt + 1
 *
 * A run is created running if the process that starts it also executes it. The last three states
 * are final. A further state, `waiting`, is not used yet: such a run cannot be claimed. Every write
 * to a running run names its owner, its `fence`, which each claim increments, and its `last_seq`.
 * If any of these has changed, nothing is written, so a former owner cannot write after another
 * process has claimed the run.
 */

/** Identifies a run. */
export interface RunRef {
  readonly runId: string;
  readonly workspaceId: string;
}
