import { type Database, isUniqueViolation } from "../../base/database/index.ts";
import type { Refused } from "./start-row.ts";
import { type StartInput, statementFor } from "./start-statement.ts";

/** What the database knows of a caller and its run. */
export interface CallerState {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly version: number;
  readonly provider_stamp: string | null;
  readonly trigger_id: string | null;
  readonly prompt_prefix: string;
  readonly running: boolean;
}

/** The run that an earlier send of the same row wrote, as it was written, whatever has become of it since. */
export async function readStarted(
  database: Database,
  runId: string,
): Promise<CallerState | undefined> {
  const { rows } = await database.engine.query<CallerState>({
    name: "read-started",
    text: `select r.workspace_id, r.agent_id, i.agent_version as version,
        (select extract(epoch from p.updated_at)::text from agent_versions v join providers p on p.id = v.provider_id
          where v.agent_id = r.agent_id and v.version = i.agent_version) as provider_stamp, i.trigger_id, i.prompt_prefix,
        r.status = 'running' and r.fence = 1 and r.last_seq = 1 as running
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    values: [runId],
  });
  return rows[0];
}

/** What the statement returns: each request's verdict, and what it found for each caller. */
export interface CheckedStarts {
  readonly verdicts: readonly Verdict[];
  readonly callers: readonly (CallerState & { readonly caller: number })[];
}

/** Position of the request in the batch, from 1; `start`: written now; `started`: written before. */
export type Verdict =
  | readonly [position: number, verdict: "replay", replayedRun: string]
  | readonly [
      position: number,
      verdict: "start" | "started" | "contended" | Refused,
      replayedRun: null,
    ];

/** Sends a batch. @param repeated whether an earlier send of it can have reached the database. */
export async function sendStarts(
  database: Database,
  input: StartInput,
  repeated: boolean,
): Promise<CheckedStarts> {
  const { rows, callers } = input;
  const send = async (again: boolean) => {
    const chosen = statementFor({
      triggers: callers.some((row) => row.source === "trigger" && row.caller.kind === "credential"),
      keys: rows.some((row) => row.key !== null),
      details: rows.some((row) => row.details !== undefined),
      repeated: again,
    });
    const answer = await database.engine.query<CheckedStarts>(chosen.query(input));
    if (answer.rows[0] === undefined) throw new Error("the start statement gave no answer");
    return answer.rows[0];
  };
  try {
    return await send(repeated);
  } catch (thrown) {
    if (!isUniqueViolation(thrown)) throw thrown;
    // An earlier send was under way, unseen by this one's snapshot, and was committed while this one waited for it.
    return await send(true);
  }
}
