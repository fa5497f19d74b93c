import type { Database } from "../base/database/index.ts";
import { claimAbandoned, endExhausted } from "./abandoned-statement.ts";
import { type ClaimedRun, claimLimited, claimQueued } from "./claim-statement.ts";
import { executeOwned } from "./execute.ts";
import type { Runtime } from "./runtime.ts";

/** Runs taken in one statement, at most: enough to fill a process quickly, few enough that others get their share. */
const batch = 50;

/**
 * Takes queued runs, as far as this process has room, and begins to execute them.
 * @returns whether more may be waiting.
 */
export async function claimRuns(runtime: Runtime): Promise<boolean> {
  const limited = await take(runtime, claimLimited);
  const queued = await take(runtime, claimQueued);
  runtime.room.queueEmpty = queued === "all";
  return limited === "some" || queued === "some";
}

/** Takes over what dead processes have left, and ends what may not be taken over again. */
export async function takeOverRuns(runtime: Runtime): Promise<void> {
  await endExhausted(runtime.database, batch);
  while ((await take(runtime, claimAbandoned)) === "some");
}

type Claiming = (database: Database, owner: string, limit: number) => Promise<ClaimedRun[]>;

/** `all`: nothing is left to take. `some`: there may be more. `full`: there may be more, and no room. */
async function take(runtime: Runtime, claim: Claiming): Promise<"all" | "some" | "full"> {
  const { room, database, processId } = runtime;
  const limit = room.open ? Math.min(batch, room.max - room.taken) : 0;
  if (limit <= 0) return "full";
  room.taken += limit;
  let claimed: ClaimedRun[] = [];
  try {
    claimed = await claim(database, processId, limit);
  } finally {
    room.taken -= limit - claimed.length;
  }
  for (const run of claimed) void executeOwned(runtime, { ...run, owner: processId });
  return claimed.length === limit ? "some" : "all";
}
