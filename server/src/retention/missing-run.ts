import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { timeOf } from "../base/ids.ts";
import { daysBefore, runDaysOf } from "../base/retention/index.ts";
import { readRunDays } from "./workspaces-store.ts";

/**
 * Returns the error for a run that does not exist, or that the actor cannot see. Nothing is stored
 * about deleted runs, so only the time in `runId` shows whether the run may have been deleted.
 */
export async function missingRun(
  tx: WorkspaceTransaction,
  ctx: Pick<Context, "retention" | "workspaceId">,
  runId: string,
): Promise<ApiError> {
  const message = "There is no run with this id that this credential can see.";
  return new ApiError("not_found", message + (await deletionHint(tx, ctx, runId)));
}

/**
 * Returns a space and a sentence which says that the run may have been deleted. Returns no text if
 * the time in the run's id is too recent, or if `runId` is not the id of a run.
 */
export async function deletionHint(
  tx: WorkspaceTransaction,
  { retention, workspaceId }: Pick<Context, "retention" | "workspaceId">,
  runId: string,
): Promise<string> {
  const createdAt = timeOfRun(runId);
  const days =
    createdAt === undefined || retention === undefined
      ? 0
      : runDaysOf(retention, await readRunDays(tx, workspaceId));
  if (days === 0 || createdAt === undefined || createdAt >= daysBefore(days, new Date())) return "";
  const unit = days === 1 ? "day" : "days";
  return ` Run ${runId} is older than the retention of ${days} ${unit}, so it may have been deleted.`;
}

/** Returns when a run with this id was created; undefined if it is not the id of a run. */
function timeOfRun(runId: string): Date | undefined {
  return /^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(runId) ? timeOf(runId) : undefined;
}
