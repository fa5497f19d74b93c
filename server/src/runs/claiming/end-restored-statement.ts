import type { UnexecutedEnd } from "../journal/index.ts";
import { findAbandoned } from "./abandoned-statement.ts";
import { type ExhaustedPorts, interruptRuns } from "./end-exhausted.ts";
import { changeInBatches, endStatement } from "./end-statement.ts";

/**
 * Maximum number of running runs that one statement ends. It is lower than `maxRuns`, because the
 * journal of each of these runs is read first, to determine which events must be added to end it.
 */
const maxRunning = 100;

const interrupted: UnexecutedEnd = {
  status: "failed",
  error: {
    code: "interrupted",
    message:
      "Beckon was restored from a backup. The run can have continued after the backup was made, so " +
      "it was not resumed. Check its effects, then retry it if needed.",
  },
};

/**
 * Statements that end queued and held runs as `interrupted`, at most as many as there are event
 * ids. Each status has its own statement, which sorts as the partial index of that status does. A
 * statement for both would read all runs of the installation, and could exceed the statement
 * timeout.
 */
export const endRestoredStatements = [
  endUnstartedStatement("end-restored-queued", "queued"),
  endUnstartedStatement("end-restored-held", "waiting"),
];

function endUnstartedStatement(name: string, status: "queued" | "waiting") {
  return endStatement(name, interrupted, (p) => {
    const limit = p.value("bigint", (input) => input.eventIds.length);
    return `select id, workspace_id from runs where status = '${status}'
  order by workspace_id, agent_id, id limit ${limit} for no key update`;
  });
}

/**
 * Ends all runs that have not ended, after the database was restored from a backup. They may have
 * continued between the backup and the restore, so resuming them could repeat tool calls. Queued
 * and held runs may have been executed in that time, too. Must be called after all processes in the
 * table `processes` were declared dead, and while no process starts.
 * @returns how many runs were ended.
 */
export async function endRestored(
  ports: Pick<ExhaustedPorts, "database" | "pricer">,
): Promise<number> {
  const { database } = ports;
  let ended = 0;
  for (const one of endRestoredStatements)
    ended += await changeInBatches(database, one, "ended", { minRuns: 1 });
  for (;;) {
    const runs = await findAbandoned(database, maxRunning);
    if (runs.length === 0) return ended;
    const written = await interruptRuns(ports, runs, interrupted.error.message);
    if (written === 0) throw new Error(`the run ${runs[0]?.runId} could not be ended`);
    ended += written;
  }
}
