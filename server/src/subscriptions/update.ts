import {
  type Subscription,
  type UpdateSubscriptionBody,
  updateSubscriptionBody,
} from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { agentLimit, type Context, permit, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Egress, privateAddressError } from "../base/egress/index.ts";
import { ApiError } from "../base/errors.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import {
  type DeliveryServices,
  encryptHeaders,
  encryptSigningSecret,
  isSigningSecret,
  originOf,
} from "../deliveries/index.ts";
import { unused } from "./health-store.ts";
import { endPendingAboutOthers } from "./pending-store.ts";
import {
  permitPayload,
  permitSelection,
  requireDeliverable,
  selectionFields,
} from "./selection.ts";
import { endedDelay, type SubscriptionRow, updateSubscriptionRow } from "./store.ts";
import {
  requireSubscriptionForChange,
  type SubscriptionInput,
  showSubscription,
  toSubscription,
} from "./subscription.ts";

/**
 * Changes a subscription. Later attempts use the new values, even for events that happened before.
 * A process that has claimed deliveries before uses the old values until it notices the change,
 * usually within 100 ms.
 *
 * If the actor is limited to agents, and changes where or with which headers and payload deliveries
 * are sent, the pending ones about other agents are ended: the actor must not get their data. If
 * they were ended when the selection is narrowed, an owner that narrows it would lose them.
 * @throws ApiError `bad_request`, including when the URL has a new origin and secret or headers are
 *   not given for it, and when a changed selection excludes event types; `forbidden`, including for
 *   a change of what a subscription with the payload `full` sends, or of its URL, without
 *   `runs:read`; `not_found`; `stale` if `If-Match` is not the current version.
 */
export async function updateSubscription({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices & { readonly egress: Pick<Egress, "missingException"> };
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Subscription> {
  permit(ctx, "subscriptions:write");
  const addressError = await privateAddressError(ctx, input.body, "url");
  const result = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireSubscriptionForChange(tx, ctx, input);
    requireMatchingVersion(ctx, "subscription", row.version);
    const body = parseBody(updateSubscriptionBody, input.body);
    const { secret: givenSecret, headers, ...given } = body;
    const columns = {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      ...(given.url === undefined ? {} : { url: new URL(given.url).href }),
    };
    const merged = { ...row, ...columns };
    permitPayload(ctx, merged, row);
    await permitSelection(tx, ctx, merged, row);
    if (selectionFields.some((field) => given[field] !== undefined)) requireDeliverable(merged);
    if (addressError !== undefined) throw addressError;
    const owner = { ...row, url: columns.url ?? row.url };
    const moves = originOf(owner) !== originOf(row);
    if (moves) requireSecretsFor(row, originOf(owner), body);
    else requireNoNewSecret(ctx.cipher, row, body);
    const secret = moves ? givenSecret : undefined;
    const isOther = columns.url !== undefined || secret !== undefined || headers !== undefined;
    const limit = agentLimit(ctx);
    const isRedirected =
      merged.url !== row.url || merged.payload !== row.payload || headers !== undefined;
    if (limit !== undefined && isRedirected) await endPendingAboutOthers(tx, row, limit);
    const changed = await updateSubscriptionRow(tx, row, {
      ...columns,
      // Clears `failing_since`, because failures with the old URL, secret or headers no longer
      // count. A subscription that is not enabled keeps it: when the subscription is resumed, the
      // deliveries that failed since that time are counted as missed.
      ...(isOther && row.status === "enabled" ? { failing_since: null } : {}),
      ...(isOther ? { not_before: endedDelay } : {}),
      ...(secret === undefined
        ? {}
        : {
            secret: encryptSigningSecret(ctx.cipher, owner, secret),
            previous_secret: null,
            previous_secret_until: null,
          }),
      ...(headers === undefined
        ? {}
        : {
            headers: encryptHeaders(ctx.cipher, owner, headers),
            header_names: Object.keys(headers).sort(),
          }),
    });
    const after = await showSubscription(tx, changed);
    // The audit entry contains no health, so the health before the change is not read.
    const { version: _before, health: _unused, ...was } = toSubscription(row, unused);
    const { version: _after, health: _health, ...is } = after;
    await record(tx, ctx, {
      action: "subscription.update",
      target: row.id,
      data: {
        ...changes(was, is),
        ...(secret === undefined ? {} : { secret: "replaced" }),
        ...(headers === undefined ? {} : { headers: "replaced" }),
      },
    });
    return after;
  });
  ctx.deliveries.changed();
  return result;
}

/**
 * Checks that a request with a URL of a new origin has a secret, and also headers if some are
 * stored, because the stored ones were given for the old origin.
 * @throws ApiError `bad_request`
 */
function requireSecretsFor(
  row: SubscriptionRow,
  origin: string,
  { secret, headers }: UpdateSubscriptionBody,
): void {
  const missing = [
    ...(secret === undefined ? ["secret"] : []),
    ...(headers === undefined && row.headers !== null ? ["headers"] : []),
  ];
  if (missing.length === 0) return;
  throw new ApiError(
    "bad_request",
    `${missing.join(", ")}: what is stored was not given for ${origin}. Send ${missing.join(" and ")} together with this url.`,
  );
}

/**
 * Rejects a secret in a request that does not change the origin of the subscription's URL. The
 * exception is a request with a URL and the stored secret: a client repeats the request that set
 * both if it did not get the response.
 * @throws ApiError `bad_request`
 */
function requireNoNewSecret(
  cipher: SecretCipher,
  row: SubscriptionRow,
  { url, secret }: UpdateSubscriptionBody,
): void {
  if (secret === undefined) return;
  if (url !== undefined && isSigningSecret(cipher, row, row.secret, secret)) return;
  throw new ApiError(
    "bad_request",
    "secret: it can be changed here only together with a url of another server. To replace it, rotate the subscription's secret.",
  );
}
