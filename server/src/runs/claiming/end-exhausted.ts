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
import { findExhausted } from "./abandoned-statement.ts";

interface ExhaustedPorts {
  readonly database: Database;
  readonly pricer: Pricer;
  /**
   * Called if reserved amounts were returned, with the workspaces in which other runs may wait for
   * these amounts.
   */
  readonly onReturned?: (workspaceIds: readonly string[]) => void;
  readonly reports?: Pick<RunReports, "ended">;
}

/**
 * Ends abandoned runs that have no attempt left. The engine decides from a summary of the journal
 * without payloads, the digest, which events to add. The events are written only if the dead
 * process still owns the run with the same fence and last sequence number, so only one process can
 * end a run.
 */
export async function endExhausted(
  { database, pricer, onReturned = () => {}, reports }: ExhaustedPorts,
  limit: number,
): Promise<void> {
  const rows: AppendRow[] = [];
  for (const claim of await findExhausted(database, limit)) {
    const { digest, prompt } = await readDigest(database, claim.runId);
    const priceOf = await pricer({ workspaceId: claim.workspaceId, ...prompt });
    const { added, calls, outcome } = interrupt(digest, { ...prompt, priceOf });
    rows.push({
      ...claim,
      intent: false,
      entries: [...added, terminalEvent(outcome)].map(toEntry),
      calls,
      end: toEnd(outcome),
    });
  }
  if (rows.length === 0) return;
  for (const index of await appendForDead(database, rows, onReturned)) {
    const row = rows[index];
    if (row?.end) reports?.ended(row, { ...row.end, cost_micros: row.end.costMicros });
  }
}
