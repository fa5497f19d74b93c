import { createSubscriptionBody, maxSubscriptions } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, principalOf } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Egress, privateAddressError } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import {
  type DeliveryServices,
  encryptHeaders,
  encryptSigningSecret,
  newSigningSecret,
} from "../deliveries/index.ts";
import { noDeliveries } from "./health-store.ts";
import { permitPayload, permitSelection, requireDeliverable } from "./selection.ts";
import { countSubscriptions, insertSubscription } from "./store.ts";
import { type SubscriptionWithSecret, toSubscription } from "./subscription.ts";

/**
 * Adds a subscription. Events that are written after the response are delivered.
 * @throws ApiError `bad_request`, including for unknown agents or triggers, for event types that
 *   the selection excludes, and for a private address that is not allowed; `forbidden`, including
 *   for the payload `full` without `runs:read`; `conflict` if the workspace has the maximum of
 *   subscriptions.
 */
export async function createSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices & { readonly egress: Pick<Egress, "missingException"> };
  input: { body: UnparsedBody };
}): Promise<Once<SubscriptionWithSecret>> {
  permit(ctx, "subscriptions:write");
  const addressError = await privateAddressError(ctx, input.body, "url");
  const result = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const body = parseBody(createSubscriptionBody, input.body);
      const { secret: given, headers, ...rest } = body;
      const columns = { ...rest, url: new URL(body.url).href };
      permitPayload(ctx, columns);
      await permitSelection(tx, ctx, columns);
      requireDeliverable(columns);
      if (addressError !== undefined) throw addressError;
      if ((await countSubscriptions(tx, ctx.workspaceId)) >= maxSubscriptions) {
        throw new ApiError(
          "conflict",
          `This workspace has ${maxSubscriptions} subscriptions, which is the maximum. Delete one first.`,
        );
      }
      const owner = { id: newId("sub"), workspace_id: ctx.workspaceId, url: columns.url };
      const secret = given ?? newSigningSecret();
      const row = await insertSubscription(tx, {
        ...columns,
        ...owner,
        secret: encryptSigningSecret(ctx.cipher, owner, secret),
        headers: encryptHeaders(ctx.cipher, owner, headers),
        header_names: Object.keys(headers).sort(),
        created_by: principalOf(ctx.actor),
      });
      await record(tx, ctx, {
        action: "subscription.create",
        target: row.id,
        data: { ...columns, header_names: row.header_names },
      });
      return { ...toSubscription(row, noDeliveries), secret };
    }),
  );
  ctx.deliveries.changed();
  return result;
}
