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
 * Ends runs without an attempt left. The engine decides from a digest what to add to their
 * journals. The write is fenced by the claim of the dead process, so that only one process ends a
 * run.
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
