/**
 * The states of a run:
 *
 *     waiting ◀───limit is spent───┐
 *        │ agent resumed           │
 *        │ or limit reset          │
 *        ▼                         │
 *     queued ──claim──▶ running ───┴──end──▶ succeeded | failed | cancelled
 *        ▲                │  │
 *        └─process stops──┘  └─ owner exited: claimed again, attempt + 1
 *
 * The last three states are final. Waiting and queued runs can also fail or be cancelled directly.
 *
 * A run is created running if the process that starts it also executes it. A run is created waiting
 * if the agent is paused or a limit is spent, and the run's trigger is set to hold runs then. A
 * waiting run cannot be claimed; the worker queues it once the agent is no longer paused and no
 * limit is spent. A running run of such a trigger also becomes waiting if a spent limit rejects its
 * first model call, or if its deadline passes while this call waits for a limit. If a limit is
 * spent and no trigger holds the run, it is created already failed.
 *
 * Every append to the journal of a running run names the run's owner, its `fence`, which each claim
 * increments, and its `last_seq`. If any of these has changed, nothing is written, so a former
 * owner cannot write after another process has claimed the run.
 */

/** Identifies a run. */
export interface RunRef {
  readonly runId: string;
  readonly workspaceId: string;
}

/**
 * Kind of a run's last attempt, the last one that the agent's limit `max_attempts` allows:
 * - `first`: the run has this attempt for the first time.
 * - `repeated`: the run has this attempt again. A process exited while it executed this run and
 *   other runs on their last attempts, and any of them may have killed the process.
 */
export type LastAttempt = "first" | "repeated";
