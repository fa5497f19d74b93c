import { updateWorkspaceBody, type Workspace } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { startDuePeriods } from "../limits/index.ts";
import { isTimeZone, lockWorkspaceRow, updateWorkspaceRow } from "./store.ts";
import {
  requireOwn,
  requireRunDays,
  requireTimeZone,
  toWorkspace,
  workspaceNotFound,
} from "./workspace.ts";

/**
 * Changes a workspace's name, its time zone, or how long it keeps its runs.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function updateWorkspace({
  ctx,
  input,
}: {
  ctx: Context;
  input: { workspaceId: string; body: UnparsedBody };
}): Promise<Workspace> {
  permit(ctx, "workspaces:write");
  requireOwn(ctx, input.workspaceId);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await lockWorkspaceRow(tx, input.workspaceId);
    if (row === undefined) throw workspaceNotFound();
    const {
      name,
      time_zone,
      run_retention_days: runDays,
    } = parseBody(updateWorkspaceBody, input.body);
    await requireTimeZone(tx, time_zone);
    requireRunDays(ctx, runDays);
    // Periods in a time zone that PostgreSQL no longer knows cannot be determined. To set another
    // one is the remedy, so it must not fail.
    if (time_zone !== undefined && (await isTimeZone(tx, row.time_zone)))
      await startDuePeriods(tx, row.id);
    const changed = await updateWorkspaceRow(tx, row.id, {
      ...(name === undefined ? {} : { name }),
      ...(time_zone === undefined ? {} : { time_zone }),
      ...(runDays === undefined ? {} : { run_retention_days: runDays }),
    });
    await record(tx, ctx, {
      action: "workspace.update",
      target: row.id,
      data: changes(toWorkspace(row, ctx), toWorkspace(changed, ctx)),
    });
    return toWorkspace(changed, ctx);
  });
}
