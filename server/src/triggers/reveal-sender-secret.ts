import type { SenderSecrets } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { decryptSecret, toSenderSecrets } from "./secrets/index.ts";
import { receivingOf, requireTrigger, type TriggerInput } from "./trigger.ts";

/**
 * Returns the sender secret in plain text and writes the reveal to the audit log.
 * @throws ApiError `forbidden`, `not_found`, including when no secret is set; `secret_unreadable`
 *   if it was encrypted with a master key that is lost.
 */
export async function revealSenderSecret({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput;
}): Promise<SenderSecrets> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTrigger(tx, ctx, input);
    const secret = decryptSecret(ctx, row, "sender_secret");
    if (secret === null)
      throw new ApiError(
        "not_found",
        "This trigger has no secret. Set one with POST on this path.",
      );
    const isMeta = receivingOf(row)?.handshake === "meta";
    const verifyToken = isMeta ? decryptSecret(ctx, row, "verify_token") : null;
    await record(tx, ctx, { action: "trigger.reveal_secret", target: row.id });
    return toSenderSecrets(row, secret, verifyToken);
  });
}
