import type { Database, ProcessMessages } from "../../base/database/index.ts";
import type { FixedWindowCounter } from "../../base/fixed-window.ts";
import type { Log } from "../../base/log.ts";
import type { OwnProcess } from "../../processes/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import type { Capacity, FirstCalls, Memory, OwnedRun, WorkerCalls } from "../executing/index.ts";
import type { Appends } from "../journal/index.ts";
import type { RunReports } from "../reports.ts";
import type { LiveRuns } from "../subscribing/index.ts";
import type { KnownCallers } from "./known-callers.ts";
import type { QueueLimits } from "./queue-limits.ts";
import type { Starts } from "./starts.ts";
import type { UnconfirmedStarts } from "./unconfirmed-starts.ts";

/** The services that starting runs needs. */
export interface StartPorts {
  readonly database: Database;
  readonly log: Log;
  readonly reports: Pick<RunReports, "ended" | "rejected">;
  readonly process: Pick<OwnProcess, "id">;
  readonly starts: Starts;
  /** Number of calls of `tryStart` in progress, for which a stopping process waits. */
  readonly startsInProgress: { count: number };
  readonly appends: Appends;
  readonly unconfirmedStarts: UnconfirmedStarts;
  readonly live: LiveRuns;
  readonly queueLimits: QueueLimits;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "heap">;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly reservations: Pick<Reservations, "noteLimited" | "noteReserved" | "forget">;
  readonly knownCallers: KnownCallers;
  /** Counts the starts that limits reject, per agent or trigger. */
  readonly limitRejections: Pick<FixedWindowCounter, "add">;
  readonly firstCalls: Pick<FirstCalls, "predict">;
  readonly worker: Pick<WorkerCalls, "claim" | "nextClaim" | "noteHeld">;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
}
