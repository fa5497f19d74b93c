import { createTriggerBody } from "@beckon/contract";
import { requireAgentForChange } from "../agents/index.ts";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { attemptAsync, orThrow } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse, type UnparsedBody } from "../base/parse.ts";
import type { MappingServices } from "../mapping/index.ts";
import { requireValidReceiving } from "./check-receiving.ts";
import { fillPreset } from "./fill-preset.ts";
import { requireTrigger, type TriggerWithToken, toTrigger } from "./trigger.ts";
import { prepareTrigger, writeTriggers } from "./write-triggers.ts";

/**
 * Adds a trigger and its token to an agent.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`, `unavailable`
 */
export async function createTrigger({
  ctx,
  input,
}: {
  ctx: Context & MappingServices;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<TriggerWithToken>> {
  permit(ctx, "triggers:write");
  const body = await attemptAsync(async () => {
    const given = parse(createTriggerBody, fillPreset(orThrow(input.body)));
    await requireValidReceiving(ctx, given.receiving);
    return given;
  });
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await requireAgentForChange(tx, ctx, input.agentId);
    return once(tx, ctx, () =>
      addTrigger(tx, ctx, { agentId: input.agentId, body: orThrow(body) }),
    );
  });
}

/**
 * Adds a trigger and its token to an agent in the caller's transaction. Unlike `createTrigger`, it
 * does not check permissions, that the agent exists, or the settings `receiving`, and does not
 * apply the Idempotency-Key. The caller must do this, and call `requireValidReceiving` before the
 * transaction.
 */
export async function addTrigger(
  tx: WorkspaceTransaction,
  ctx: Context,
  { agentId, body }: { agentId: string; body: unknown },
): Promise<TriggerWithToken> {
  const triggerId = newId("trg");
  const trigger = prepareTrigger(ctx, { agentId, triggerId, body: parse(createTriggerBody, body) });
  await writeTriggers(tx, [trigger]);
  await record(tx, ctx, trigger.entry);
  const row = await requireTrigger(tx, ctx, { agentId, triggerId });
  return { ...toTrigger(ctx, row), token: trigger.token.text };
}
