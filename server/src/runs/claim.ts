import { claimAbandoned, claimLastAttempt, endExhausted } from "./abandoned-statement.ts";
import { type ClaimedRun, claimLimited, claimQueued } from "./claim-statement.ts";
import { executeOwned } from "./execute.ts";
import type { Runtime } from "./runtime.ts";

/** Runs taken in one statement, at most: enough to fill a process quickly, few enough that others get their share. */
const batch = 50;

/**
 * Takes queued runs, as far as this process has room, and begins to execute them.
 * @returns whether more may be waiting that it has room for.
 */
export async function claimRuns(runtime: Runtime): Promise<boolean> {
  const limited = await take(runtime, batch, (owner, limit) => claimLimited(runtime.database, owner, limit));
  const queued = await take(runtime, batch, (owner, limit) => claimQueued(runtime.database, owner, limit));
  runtime.room.queueEmpty = queued === "all";
  return limited === "some" || queued === "some";
}

/** Takes over what dead processes have left, and ends what may not be taken over again. */
export async function takeOverRuns(runtime: Runtime): Promise<void> {
  await endExhausted(runtime.database, batch);
  while ((await take(runtime, batch, (owner, limit) => claimAbandoned(runtime.database, owner, limit))) === "some");
  if (![...runtime.live.values()].some((live) => live.lastAttempt)) {
    await take(runtime, 1, (owner) => claimLastAttempt(runtime.database, owner), { lastAttempt: true });
  }
}

/** `all`: nothing is left to take. `some`: there may be more. `full`: there may be more, and no room. */
async function take(
  runtime: Runtime,
  most: number,
  claim: (owner: string, limit: number) => Promise<ClaimedRun[]>,
  options: { lastAttempt?: boolean } = {},
): Promise<"all" | "some" | "full"> {
  const { room, processId } = runtime;
  const limit = room.open ? Math.min(most, room.max - room.taken) : 0;
  if (limit <= 0) return "full";
  room.taken += limit;
  let claimed: ClaimedRun[] = [];
  try {
    claimed = await claim(processId, limit);
  } finally {
    room.taken -= limit - claimed.length;
  }
  for (const run of claimed) void executeOwned(runtime, { ...run, ...options, owner: processId, fromQueue: true });
  return claimed.length === limit ? "some" : "all";
}
