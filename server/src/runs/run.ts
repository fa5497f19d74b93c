/**
 * A run's life:
 *
 *     queued ──claim──▶ running ──end──▶ succeeded | failed | cancelled
 *        ▲                │  │
 *        └────hand-back───┘  └─ owner died: claimed again, attempt + 1
 *
 * It may be born running, when the process that starts it executes it. The last three states never change. Every write of a
 * running run names owner, fence and last_seq: after a claim by another process the former owner writes nothing more.
 */

/** The run's lasting facts, as its executor and its watchers know it. */
export interface RunRef {
  readonly runId: string;
  readonly workspaceId: string;
}
