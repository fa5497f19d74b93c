import type { Trigger } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { requireTrigger, type TriggerInput, toTrigger } from "./trigger.ts";

/** Returns a trigger without its URL. @throws ApiError `forbidden`, `not_found` */
export async function getTrigger({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput;
}): Promise<Trigger> {
  permit(ctx, "triggers:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) =>
    toTrigger(ctx, await requireTrigger(tx, ctx, input)),
  );
}
