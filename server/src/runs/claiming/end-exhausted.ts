import { type Database, failureKind, isCancelled } from "../../base/database/index.ts";
import { interrupt } from "../../engine/index.ts";
import {
  type AppendRow,
  appendForDead,
  finalEvent,
  type RunEnd,
  readPricedDigest,
  toEnd,
  toEntry,
} from "../journal/index.ts";
import type { Pricer } from "../pricer.ts";
import type { RunReports } from "../reports.ts";
import { type ExhaustedRun, findExhausted } from "./abandoned-statement.ts";
import type { UnreadableRuns } from "./unreadable-runs.ts";

export interface ExhaustedPorts {
  readonly database: Database;
  readonly pricer: Pricer;
  /**
   * Called if money or usage that runs had reserved was returned to limits, with the workspaces in
   * which other runs may wait for it.
   */
  readonly onReturned?: (workspaceIds: readonly string[]) => void;
  readonly reports?: Pick<RunReports, "ended">;
  /**
   * If set, a run whose journal cannot be read is added and left as it is, so that the other runs
   * can be ended. Otherwise the call fails.
   */
  readonly unreadable?: UnreadableRuns;
}

/**
 * Ends up to `limit` abandoned runs that have no attempt left.
 * @param after the result of the previous call; empty for the first.
 * @returns the value of `after` for the next call; undefined if no runs are left.
 */
export async function endExhausted(
  ports: ExhaustedPorts,
  limit: number,
  after = "",
): Promise<string | undefined> {
  const runs = await findExhausted(ports.database, { after, limit });
  await interruptRuns(ports, runs);
  return runs.length < limit ? undefined : runs.at(-1)?.runId;
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
  ports: ExhaustedPorts,
  runs: readonly ExhaustedRun[],
  message?: string,
): Promise<number> {
  const { database, onReturned = () => {}, reports } = ports;
  const rows: EndingRow[] = [];
  for (const run of runs) {
    if (ports.unreadable?.has(run.runId)) continue;
    const row = await interruption(ports, run, message).catch((thrown) =>
      noteUnreadable(ports, run, thrown),
    );
    if (row !== undefined) rows.push(row);
  }
  if (rows.length === 0) return 0;
  const written = await appendForDead(database, rows, onReturned);
  for (const index of written) {
    const row = rows[index];
    if (row !== undefined)
      reports?.ended(row, { ...row.transition, cost_micros: row.transition.costMicros });
  }
  return written.length;
}

interface EndingRow extends AppendRow {
  readonly transition: RunEnd;
}

/** Returns the append that ends the run as `interrupted`. */
async function interruption(
  ports: ExhaustedPorts,
  run: ExhaustedRun,
  message?: string,
): Promise<EndingRow> {
  const { digest, prompt } = await readPricedDigest(ports, run);
  const { added, calls, outcome } = interrupt(digest, prompt, message);
  return {
    ...run,
    entries: [...added, finalEvent(outcome)].map(toEntry),
    calls,
    transition: toEnd(outcome),
  };
}

/**
 * Notes that a run could not be ended.
 * @throws `thrown` if the caller does not leave out such runs, or if the database is unavailable,
 *   since the other runs would fail, too. A statement timeout counts as a failure of the run: its
 *   journal may be large.
 */
function noteUnreadable(
  { unreadable }: ExhaustedPorts,
  { runId }: ExhaustedRun,
  thrown: unknown,
): void {
  const isLost = failureKind(thrown) === "lost" && !isCancelled(thrown);
  if (unreadable === undefined || isLost) throw thrown;
  unreadable.add(runId, thrown);
}
