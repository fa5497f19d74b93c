import type { Workspace } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { findWorkspaceRow } from "./store.ts";
import { requireOwn, toWorkspace, workspaceNotFound } from "./workspace.ts";

/** Returns a workspace that the actor can see. @throws ApiError `forbidden`, `not_found` */
export async function getWorkspace({
  ctx,
  input,
}: {
  ctx: Context;
  input: { workspaceId: string };
}): Promise<Workspace> {
  permit(ctx, "workspaces:read");
  requireOwn(ctx, input.workspaceId);
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findWorkspaceRow(tx, input.workspaceId),
  );
  if (row === undefined) throw workspaceNotFound();
  return toWorkspace(row, ctx);
}
