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
import { findExhausted } from "./abandoned-statement.ts";

/**
 * Ends runs that have lost as many processes as they can. The engine's rules say what is added to their journals, from
 * a digest; the claim of the dead process fences the write, so that of two processes one ends the run.
 */
export async function endExhausted(database: Database, limit: number): Promise<void> {
  const rows: AppendRow[] = [];
  for (const claim of await findExhausted(database, limit)) {
    const { digest, prompt } = await readDigest(database, claim.runId);
    const { added, outcome } = interrupt(digest, prompt);
    rows.push({
      ...claim,
      intent: false,
      entries: [...added, terminalEvent(outcome)].map(toEntry),
      end: toEnd(outcome),
    });
  }
  if (rows.length > 0) await appendForDead(database, rows);
}
