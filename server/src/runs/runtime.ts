import { type Database, type Gatherer, gather, openWakeUps, type WakeUps } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/secrets/index.ts";
import type { Tool } from "../engine/index.ts";
import { type AppendAnswer, type AppendRow, appendToRuns } from "./append-statement.ts";
import { createFollowers, type Followers } from "./followers.ts";
import type { LiveRun } from "./live-run.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { type StartAnswer, type StartRow, startRuns } from "./start-statement.ts";

/** What the verbs of runs share inside one process. */
export interface Runtime {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  /** This process in `processes`. A process declared dead goes on under a new id. */
  processId: string;
  readonly starts: Gatherer<StartRow, StartAnswer>;
  readonly appends: Gatherer<AppendRow, AppendAnswer>;
  /** Runs that this process executes, by id. */
  readonly live: Map<string, LiveRun>;
  readonly followers: Followers;
  readonly wakeUps: WakeUps;
  readonly prepared: Map<string, PreparedAgent>;
  /** Tools beside the built-in ones, granted to every agent: the operator's own. */
  readonly extraTools: readonly Tool[];
  readonly fetch: typeof fetch;
  readonly room: Room;
  /** Set while stopping: nothing new is taken, and readiness says so. */
  draining: boolean;
  /** Tells the worker that there may be something to claim. */
  wakeWorker: () => void;
}

/** How many runs this process executes and may execute. */
export interface Room {
  readonly max: number;
  /** Executing, or reserved for a start that is under way. */
  taken: number;
  /** Whether the last claim left nothing in the queue: only then a run may be born running, past those that wait. */
  queueEmpty: boolean;
  /** Off in a process of role `api`, and while draining. */
  open: boolean;
}

export interface RuntimeOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly processId?: string | undefined;
  readonly maxRuns: number;
  readonly executes: boolean;
  readonly extraTools?: readonly Tool[] | undefined;
  readonly fetch: typeof fetch;
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { database } = options;
  const wakeUps = openWakeUps(database, options.log);
  return {
    database,
    sealer: options.sealer,
    log: options.log,
    processId: options.processId ?? newId("prc"),
    starts: gather({
      write: (rows) => startRuns(database, rows),
      order: (row) => `${row.agentId ?? ""} ${row.key ?? ""}`,
      bytes: (row) => row.payload.length,
      maxRows: 200,
      maxBytes: 8 * 1024 * 1024,
    }),
    appends: gather({
      write: (rows) => appendToRuns(database, rows),
      order: (row) => row.runId,
      bytes: (row) =>
        row.entries.reduce((sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0), row.end?.output?.length ?? 0),
      maxRows: 200,
      maxBytes: 8 * 1024 * 1024,
    }),
    live: new Map(),
    followers: createFollowers(database, (runId) => wakeUps.tell({ kind: "watch", runId })),
    wakeUps,
    prepared: new Map(),
    extraTools: options.extraTools ?? [],
    fetch: options.fetch,
    room: { max: options.maxRuns, taken: 0, queueEmpty: false, open: options.executes },
    draining: false,
    wakeWorker: () => {},
  };
}
