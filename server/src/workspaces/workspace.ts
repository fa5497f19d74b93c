import type { Workspace } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { minRunDays } from "../base/retention/index.ts";
import { isTimeZone, type WorkspaceRow } from "./store.ts";

export function toWorkspace(
  row: WorkspaceRow,
  { retention }: Pick<Context, "retention">,
): Workspace {
  return {
    id: row.id,
    name: row.name,
    time_zone: row.time_zone,
    run_retention_days: row.run_retention_days,
    max_run_retention_days: retention === undefined ? null : retention.runsDays || null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * Checks that the id is that of the workspace in which the request acts.
 * @throws ApiError `not_found` if it is not.
 */
export function requireOwn(ctx: Context, workspaceId: string): void {
  if (workspaceId !== ctx.workspaceId) throw workspaceNotFound();
}

export function workspaceNotFound(): ApiError {
  return new ApiError(
    "not_found",
    "There is no workspace with this id that this credential can see.",
  );
}

/**
 * Checks that PostgreSQL has a time zone with this name. Does nothing if `name` is undefined.
 * @throws ApiError `bad_request` if it has none.
 */
export async function requireTimeZone(
  tx: WorkspaceTransaction,
  name: string | undefined,
): Promise<void> {
  if (name === undefined || (await isTimeZone(tx, name))) return;
  throw new ApiError(
    "bad_request",
    `time_zone: PostgreSQL does not know ${name}. Send a name such as Europe/Zurich or UTC.`,
  );
}

/**
 * Checks that the operator keeps runs at least as long as the workspace chooses.
 * @param days undefined or null if the workspace chooses none.
 * @throws ApiError `bad_request` if the operator deletes runs earlier.
 */
export function requireRunDays(
  { retention }: Pick<Context, "retention">,
  days: number | null | undefined,
): void {
  const max = retention?.runsDays ?? 0;
  if (days == null || max === 0 || days <= max) return;
  throw new ApiError(
    "bad_request",
    max < minRunDays
      ? `run_retention_days: the operator keeps runs for ${max} days, and a workspace can choose no fewer than ${minRunDays}. Send null.`
      : `run_retention_days: was ${days}; the operator keeps runs for ${max} days. Send ${minRunDays} to ${max}, or null for ${max}.`,
  );
}
