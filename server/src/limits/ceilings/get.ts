import type { Ceiling } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { noCeiling, noScope, refOf, toCeiling } from "./ceiling.ts";
import { findScopeName, readCeilings } from "./store.ts";

/**
 * Returns the ceiling of the workspace or of an agent, key or trigger.
 * @throws ApiError `forbidden`; `not_found` if there is no such ceiling, or if the credential is
 *   limited to some agents and cannot see this ceiling. The message says which.
 */
export async function getCeiling({
  ctx,
  input,
}: {
  ctx: Context;
  input: { scope: string; scopeId: string };
}): Promise<Ceiling> {
  permit(ctx, "usage:read");
  const { workspaceId, actor } = ctx;
  const ref = refOf(input);
  return inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const visibility = {
      agentIds: agentLimit(ctx),
      keyId: actor.kind === "key" ? actor.id : undefined,
    };
    const [row] = await readCeilings(tx, workspaceId, { ...ref, limit: 1, ...visibility });
    if (row !== undefined) return toCeiling(ctx, row);
    const name = await findScopeName(tx, workspaceId, ref, visibility);
    throw name === undefined ? noScope(ref.scope) : noCeiling(ref);
  });
}
