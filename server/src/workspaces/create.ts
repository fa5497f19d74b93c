import { createWorkspaceBody, type Workspace } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { addKey } from "../keys/index.ts";
import { addMember } from "../members/index.ts";
import { defaultWorkspaceId } from "./ensure-default.ts";
import { insertWorkspace } from "./store.ts";
import { requireTimeZone, toWorkspace } from "./workspace.ts";

/** In the answer to a key also what opens the workspace. */
export type NewWorkspace = Workspace & { key?: string };

/**
 * Adds a workspace. The person who does so becomes its owner; a key gets a key like itself there, since nobody else could enter. Only for owners and keys of the
 * installation's first workspace: allowances and ceilings are a workspace's, so whoever could make workspaces had none.
 * @throws ApiError `forbidden`
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
      "Workspaces are added by owners and keys of the workspace default. Act there, or ask one of them.",
    );
  }
  return inAllWorkspaces(ctx.database.tenant, (tx) =>
    once(tx, ctx, async () => {
      const body = parseBody(createWorkspaceBody, input.body);
      await requireTimeZone(tx, body.time_zone);
      const row = await insertWorkspace(tx, { id: newId("wsp"), ...body });
      if (row === undefined) throw new Error("a new workspace was there already");
      const { actor, address } = ctx;
      // Told in both: where it was done, and what has begun by it.
      for (const workspaceId of [ctx.workspaceId, row.id]) {
        await record(
          tx,
          { workspaceId, actor, address },
          { action: "workspace.create", target: row.id, data: body },
        );
      }
      const shown = toWorkspace(row);
      if (actor.kind === "user") {
        await addMember(tx, { userId: actor.id, workspaceId: row.id, role: "owner" });
        return shown;
      }
      const scopes = actor.kind === "key" ? actor.scopes : [];
      const { key } = await addKey(
        tx,
        { ...ctx, workspaceId: row.id },
        { name: "First key", scopes },
      );
      return { ...shown, key };
    }),
  );
}
