import { rotateBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { issueToken } from "../tokens/index.ts";
import {
  requireTriggerForChange,
  type TriggerInput,
  type TriggerWithToken,
  toTrigger,
} from "./trigger.ts";

/**
 * Issues a new token and thereby a new URL. The previous token is valid for `grace_seconds` more,
 * by default 0.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function rotateTrigger({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Once<TriggerWithToken>> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const { grace_seconds } = parseBody(rotateBody, input.body, {});
      const token = await issueToken(
        tx,
        ctx,
        { agentId: row.agent_id, triggerId: row.id },
        { graceSeconds: grace_seconds },
      );
      await record(tx, ctx, { action: "trigger.rotate", target: row.id, data: { grace_seconds } });
      return { ...toTrigger(ctx, row), token };
    });
  });
}
