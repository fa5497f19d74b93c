/**
 * The states of a run:
 *
 *     waiting
 *        │ release
 *        ▼
 *     queued ──claim──▶ running ──end──▶ succeeded | failed | cancelled
 *        ▲                │  │
 *        └────release─────┘  └─ owner died: claimed again, attempt + 1
 *
 * A run is created running if the process that starts it also executes it. The last three states
 * are final. A run is created waiting if its trigger holds runs while the agent is paused or a
 * limit is spent. It cannot be claimed; the worker queues it once nothing holds it. Every write to
 * a running run names its owner, its `fence`, which each claim increments, and its `last_seq`. If
 * any of these has changed, nothing is written, so a former owner cannot write after another
 * process has claimed the run.
 */

/** Identifies a run. */
export interface RunRef {
  readonly runId: string;
  readonly workspaceId: string;
}
