import { type SenderSecrets, setSenderSecretBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { equalTexts } from "../base/secrets/index.ts";
import { generateSenderSecret, senderSecretMistake } from "../receiving/index.ts";
import {
  encryptSecret,
  generateVerifyToken,
  readableSecret,
  toSenderSecrets,
} from "./secrets/index.ts";
import { type TriggerRow, updateSecretRow, updateTriggerRow } from "./store.ts";
import { receivingOf, requireTriggerForChange, type TriggerInput } from "./trigger.ts";

/**
 * Sets the secret that the sender shares with the trigger, or generates one. With a grace period,
 * requests with the previous secret are also accepted for that time. If only the verify token is
 * given, or the stored secret again, no secret is replaced. A grace period of 0 with the stored
 * secret ends that of the previous one.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `conflict` if the trigger has no
 *   settings `receiving`.
 */
export async function setSenderSecret({
  ctx,
  input,
}: {
  ctx: Context;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Once<SenderSecrets>> {
  permit(ctx, "triggers:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const body = parseBody(setSenderSecretBody, input.body, {});
      const { verification, handshake } = requireReceiving(row);
      const mistake = body.secret && senderSecretMistake(verification, body.secret);
      if (mistake) throw new ApiError("bad_request", `secret ${mistake}.`);
      // After the loss of a master key, both secrets must be replaceable.
      const stored = readableSecret(ctx, row, "sender_secret");
      const kept = body.verify_token === undefined ? null : stored;
      const secret = body.secret ?? kept ?? generateSenderSecret(verification);
      // If a request that replaced the secret is repeated, the secret before it must stay valid.
      const keepsSecrets =
        stored !== null &&
        equalTexts(stored, secret) &&
        (body.secret === undefined || body.grace_seconds > 0);
      const isMeta = handshake === "meta";
      const storedToken = readableSecret(ctx, row, "verify_token");
      const verifyToken =
        body.verify_token ?? storedToken ?? (isMeta ? generateVerifyToken() : null);
      const encryptedToken = verifyToken && encryptSecret(ctx, row, "verify_token", verifyToken);
      const changed = keepsSecrets
        ? await updateTriggerRow(tx, row, { verify_token: encryptedToken })
        : await updateSecretRow(tx, row, {
            secret: encryptSecret(ctx, row, "sender_secret", secret),
            verifyToken: encryptedToken,
            graceSeconds: body.grace_seconds,
          });
      await record(tx, ctx, {
        action: "trigger.set_secret",
        target: row.id,
        data: {
          grace_seconds: body.grace_seconds,
          ...(keepsSecrets ? {} : { secret: writtenOver(row.sender_secret) }),
          ...(verifyToken === storedToken ? {} : { verify_token: writtenOver(row.verify_token) }),
        },
      });
      return toSenderSecrets(changed, secret, isMeta ? verifyToken : null);
    });
  });
}

function requireReceiving(row: TriggerRow) {
  const receiving = receivingOf(row);
  if (receiving !== null) return receiving;
  throw new ApiError(
    "conflict",
    "This trigger does not verify its requests. Set receiving with a verification first.",
  );
}

/** Returns what the audit log says about a credential that was written to this column. */
function writtenOver(stored: unknown): "set" | "replaced" {
  return stored === null ? "set" : "replaced";
}
