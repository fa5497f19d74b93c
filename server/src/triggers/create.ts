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
import { issueToken } from "../tokens/index.ts";
import { requireValidReceiving } from "./check-receiving.ts";
import { fillPreset } from "./fill-preset.ts";
import { insertTrigger } from "./store.ts";
import { type TriggerWithToken, toTrigger } from "./trigger.ts";

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
 * @param input.triggerId Id of the new trigger; undefined to generate one.
 */
export async function addTrigger(
  tx: WorkspaceTransaction,
  ctx: Context,
  input: { agentId: string; body: unknown; triggerId?: string | undefined },
): Promise<TriggerWithToken> {
  const { receiving, ...body } = parse(createTriggerBody, input.body);
  const id = input.triggerId ?? newId("trg");
  const row = await insertTrigger(tx, {
    id,
    workspace_id: ctx.workspaceId,
    agent_id: input.agentId,
    ...body,
    receiving: receiving === null ? null : JSON.stringify(receiving),
  });
  const token = await issueToken(
    tx,
    ctx,
    { agentId: input.agentId, triggerId: id },
    { graceSeconds: 0 },
  );
  await record(tx, ctx, {
    action: "trigger.create",
    target: id,
    data: { agent_id: input.agentId, name: body.name },
  });
  return { ...toTrigger(ctx, row), token };
}
