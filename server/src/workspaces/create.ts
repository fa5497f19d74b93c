import { createWorkspaceBody, type Workspace } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { addKey, requireKey } from "../keys/index.ts";
import { addMember } from "../members/index.ts";
import { defaultWorkspaceId } from "./ensure-default.ts";
import { insertWorkspace } from "./store.ts";
import { requireTimeZone, toWorkspace } from "./workspace.ts";

/** A new workspace, with its first key unless a person created the workspace. */
export type NewWorkspace = Workspace & {
  /** The key's secret. */
  key?: string;
  key_id?: string;
  key_expires_at?: string | null;
};

/**
 * Adds a workspace. A person who adds it becomes its owner. If it is added with a key, a new key
 * with the same scopes is created in it and returned. This key is the only credential of the
 * workspace, so it does not get the default expiry, but that of the key that adds the workspace.
 *
 * Only owners and keys of the workspace `default` can add workspaces. Otherwise the members of
 * another workspace could exceed its allowances and ceilings by adding workspaces, because these
 * limits apply per workspace.
 * @throws ApiError `bad_request`, `forbidden`; the errors of `requireUnchangedRights`.
 */
export async function createWorkspace({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<NewWorkspace>> {
  permit(ctx, "workspaces:own");
  if (ctx.workspaceId !== defaultWorkspaceId) {
    throw new ApiError(
      "forbidden",
      "Only owners and keys of the workspace default can add workspaces. Ask one of its owners, or use one of its keys.",
    );
  }
  return inAllWorkspaces(ctx.database.tenant, (tx) =>
    once(tx, ctx, async () => {
      await requireUnchangedRights(tx, ctx);
      const body = parseBody(createWorkspaceBody, input.body);
      await requireTimeZone(tx, body.time_zone);
      const row = await insertWorkspace(tx, { id: newId("wsp"), ...body });
      if (row === undefined) throw new Error("a workspace with a new id exists already");
      const { actor, address } = ctx;
      // The entry is written to the audit logs of two workspaces: that of the request and the new
      // one.
      for (const workspaceId of [ctx.workspaceId, row.id]) {
        await record(
          tx,
          { workspaceId, actor, address },
          { action: "workspace.create", target: row.id, data: body },
        );
      }
      const workspace = toWorkspace(row, ctx);
      if (actor.kind === "user") {
        await addMember(tx, { userId: actor.id, workspaceId: row.id, role: "owner" });
        return workspace;
      }
      if (actor.kind !== "key") throw new Error("only a person or a key can add a workspace");
      const { expires_at } = await requireKey(tx, ctx, actor.id);
      const added = await addKey(
        tx,
        { ...ctx, workspaceId: row.id },
        {
          name: "First key",
          scopes: actor.scopes,
          expires_at: expires_at?.toISOString() ?? null,
        },
      );
      return { ...workspace, key: added.key, key_id: added.id, key_expires_at: added.expires_at };
    }),
  );
}
