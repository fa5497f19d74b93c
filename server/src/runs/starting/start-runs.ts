import type { Database } from "../../base/database/index.ts";
import type { InitialStatus } from "../journal/index.ts";
import {
  callerId,
  initialError,
  type RunDetails,
  type StartAnswer,
  type StartedRun,
  type StartRow,
} from "./start-row.ts";
import { type CallerState, readStarted, sendStarts, type Verdict } from "./start-store.ts";

interface StartOptions {
  /** false: no earlier send of any of the rows can have reached the database, which is then not asked for one. Default true. */
  readonly repeated?: boolean;
  /** Workspaces whose runs wait for memory in this process: their new ones are queued. */
  readonly full?: readonly string[];
}

/** Checks and writes `rows`, and answers each in order. */
export async function startRuns(
  database: Database,
  rows: readonly StartRow[],
  { repeated = true, full = [] }: StartOptions = {},
): Promise<StartAnswer[]> {
  const { callers, callerOf } = callersOf(rows);
  const judgement = await sendStarts(database, { rows, callers, callerOf, full }, repeated);
  if (judgement.verdicts.length !== rows.length)
    throw new Error("the start statement left a request without a verdict");
  const known = new Map(judgement.callers.map((caller) => [caller.caller, caller]));
  const answers = new Array<StartAnswer | Promise<StartAnswer>>(rows.length);
  for (const verdict of judgement.verdicts) {
    const index = verdict[0] - 1;
    const [row, caller] = [rows[index], known.get(callerOf[index] ?? 0)];
    if (row === undefined || caller === undefined)
      throw new Error("the start statement answered a request that was not sent");
    answers[index] = toAnswer(database, row, verdict, caller);
  }
  return Promise.all(answers);
}

/** The requests that tell callers apart, and the position, from 1, of each row's caller among them. */
function callersOf(rows: readonly StartRow[]): { callers: StartRow[]; callerOf: number[] } {
  const callers: StartRow[] = [];
  const known = new Map<string, number>();
  const callerOf = rows.map((row) => {
    const { source, agentId, body, hasCapacity, owner, contentType, details } = row;
    const id = `${source} ${agentId} ${body} ${hasCapacity} ${owner} ${details !== undefined} ${callerId(row.caller)} ${contentType}`;
    const caller = known.get(id) ?? callers.push(row);
    known.set(id, caller);
    return caller;
  });
  return { callers, callerOf };
}

function toAnswer(
  database: Database,
  row: StartRow,
  [, verdict, replayedRun]: Verdict,
  known: CallerState,
): StartAnswer | Promise<StartAnswer> {
  switch (verdict) {
    case "start":
      return { verdict: "started", run: toStarted(row, known) };
    case "started":
    case "contended":
      return writtenBefore(database, row, verdict);
    case "replay":
      return {
        verdict,
        runId: replayedRun,
        workspaceId: known.workspace_id,
        agentId: known.agent_id,
      };
    default:
      return { verdict };
  }
}

/** A key that another run has can have been bound by an earlier send of this very row. */
async function writtenBefore(
  database: Database,
  row: StartRow,
  verdict: "started" | "contended",
): Promise<StartAnswer> {
  const known = await readStarted(database, row.runId);
  if (known !== undefined) return { verdict: "started", run: toStarted(row, known) };
  if (verdict === "started") throw new Error(`run ${row.runId} was written and is gone`);
  return { verdict };
}

function toStarted({ runId, details }: StartRow, known: CallerState): StartedRun {
  return {
    runId,
    workspaceId: known.workspace_id,
    agentId: known.agent_id,
    agentVersion: details?.version ?? known.version,
    providerStamp: known.provider_stamp,
    triggerId: details?.triggerId ?? known.trigger_id,
    promptPrefix: details?.promptPrefix ?? known.prompt_prefix,
    status: statusOf(details, known),
  };
}

function statusOf(details: RunDetails | undefined, { running }: CallerState): InitialStatus {
  if (details?.initial === "waiting") return "waiting";
  if (details !== undefined && initialError(details) !== undefined) return "failed";
  return running ? "running" : "queued";
}
