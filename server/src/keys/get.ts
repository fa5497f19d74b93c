import type { Key } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { requireKey, toKey } from "./key.ts";

/** Returns a key without its secret. @throws ApiError `forbidden`, `not_found` */
export async function getKey({
  ctx,
  input,
}: {
  ctx: Context;
  input: { keyId: string };
}): Promise<Key> {
  permit(ctx, "keys:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) =>
    toKey(await requireKey(tx, ctx, input.keyId)),
  );
}
