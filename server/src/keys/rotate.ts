import { rotateKeyBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { permitGrant, permitOtherSecret, permitRotation } from "./grant.ts";
import { type KeyWithSecret, requireKeyForChange, toKey } from "./key.ts";
import { insertSecret, retireSecret } from "./secret-store.ts";

/**
 * Default of `grace_seconds` if a key rotates itself. If the response is lost, the key can repeat
 * the request with its previous secret and the same Idempotency-Key. It may have no other
 * credential. Without the Idempotency-Key, the repeat would be a second rotation, which ends the
 * previous secret at once.
 */
const ownGraceSeconds = 300;

/**
 * Gives the key a new secret, which only this response contains. The previous secret stays valid
 * for `grace_seconds` more: by default `ownGraceSeconds` if the key rotates itself, else 0.
 * @throws ApiError `bad_request`, `not_found`; `forbidden` if the key can do more than the actor,
 *   who would receive its secret, or expires later, or if the actor is another key with a ceiling;
 *   `conflict` for an expired key or the bootstrap key; the errors of `requireUnchangedRights`.
 */
export async function rotateKey({
  ctx,
  input,
}: {
  ctx: Context;
  input: { keyId: string; body: UnparsedBody };
}): Promise<Once<KeyWithSecret>> {
  permit(ctx, "keys:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await requireUnchangedRights(tx, ctx);
    const row = await requireKeyForChange(tx, ctx, input.keyId);
    permitGrant(ctx, row);
    await permitRotation(tx, ctx, row);
    const isOwn = ctx.actor.kind === "key" && ctx.actor.id === row.id;
    if (!isOwn) await permitOtherSecret(tx, ctx);
    return once(tx, ctx, async () => {
      if (!row.lives)
        throw new ApiError(
          "conflict",
          "This key has expired. Set a future expires_at before you rotate it.",
        );
      const { grace_seconds = isOwn ? ownGraceSeconds : 0 } = parseBody(
        rotateKeyBody,
        input.body,
        {},
      );
      await retireSecret(tx, row, grace_seconds);
      const key = newCredential("bkw_");
      await insertSecret(tx, row, hashCredential(key));
      await record(tx, ctx, { action: "key.rotate", target: row.id, data: { grace_seconds } });
      return { ...toKey(row), key };
    });
  });
}
