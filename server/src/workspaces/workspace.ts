import type { Workspace } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { isTimeZone, type WorkspaceRow } from "./store.ts";

export function toWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    name: row.name,
    time_zone: row.time_zone,
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
