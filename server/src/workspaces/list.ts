import type { Workspace } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces, inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { findWorkspaceRow, listWorkspaceRows } from "./store.ts";
import { toWorkspace } from "./workspace.ts";

/**
 * Returns one page of the workspaces in which the person is a member. A key only gets the workspace
 * to which it belongs.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listWorkspaces({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Workspace>> {
  permit(ctx, "workspaces:read");
  const { actor, database } = ctx;
  if (actor.kind === "user") {
    const page = readPage(input.query, { list: "workspaces", user: actor.id });
    const rows = await inAllWorkspaces(database.tenant, (tx) =>
      listWorkspaceRows(tx, actor.id, page),
    );
    return page.page(rows.map((row) => toWorkspace(row, ctx)));
  }
  const page = readPage(input.query, { list: "workspaces", workspace: ctx.workspaceId });
  const row = await inWorkspace(database.tenant, ctx.workspaceId, (tx) =>
    findWorkspaceRow(tx, ctx.workspaceId),
  );
  return page.page(row === undefined || page.below !== undefined ? [] : [toWorkspace(row, ctx)]);
}
