import type { Database } from "../../base/database/index.ts";
import { interrupt } from "../../engine/index.ts";
import {
  type AppendRow,
  appendForDead,
  readDigest,
  terminalEvent,
  toEnd,
  toEntry,
} from "../journal/index.ts";
import type { Pricer } from "../pricer.ts";
import type { RunReports } from "../reports.ts";
import { type ExhaustedRun, findExhausted } from "./abandoned-statement.ts";

export interface ExhaustedPorts {
  readonly database: Database;
  readonly pricer: Pricer;
  /**
   * Called if money or usage that runs had reserved was returned to limits, with the workspaces in
   * which other runs may wait for it.
   */
  readonly onReturned?: (workspaceIds: readonly string[]) => void;
  readonly reports?: Pick<RunReports, "ended">;
}

/** Ends up to `limit` abandoned runs that have no attempt left. */
export async function endExhausted(ports: ExhaustedPorts, limit: number): Promise<void> {
  await interruptRuns(ports, await findExhausted(ports.database, limit));
}

/**
 * Ends runs of dead processes as `interrupted`. The engine decides which events to add from the
 * digest: a summary of the journal without payloads. The events are written only if the dead
 * process still owns the run with the same fence and last sequence number, so only one process can
 * end a run.
 * @param message why the runs are not resumed. Default: their processes were lost.
 * @returns how many runs were ended.
 */
export async function interruptRuns(
  { database, pricer, onReturned = () => {}, reports }: ExhaustedPorts,
  runs: readonly ExhaustedRun[],
  message?: string,
): Promise<number> {
  const rows: AppendRow[] = [];
  for (const claim of runs) {
    const { digest, prompt } = await readDigest(database, claim.runId);
    const priceOf = await pricer({ workspaceId: claim.workspaceId, ...prompt });
    const { added, calls, outcome } = interrupt(digest, { ...prompt, priceOf }, message);
    rows.push({
      ...claim,
      intent: false,
      entries: [...added, terminalEvent(outcome)].map(toEntry),
      calls,
      end: toEnd(outcome),
    });
  }
  if (rows.length === 0) return 0;
  const written = await appendForDead(database, rows, onReturned);
  for (const index of written) {
    const row = rows[index];
    if (row?.end) reports?.ended(row, { ...row.end, cost_micros: row.end.costMicros });
  }
  return written.length;
}
