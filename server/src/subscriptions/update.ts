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
import { withoutUndefined } from "../base/json/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import {
  type DeliveryServices,
  encryptHeaders,
  encryptSigningSecret,
  isSigningSecret,
  originOf,
} from "../deliveries/index.ts";
import { noDeliveries } from "./health-store.ts";
import { endPendingAboutOthers } from "./pending-store.ts";
import {
  permitPayload,
  permitSelection,
  requireDeliverable,
  selectionFields,
} from "./selection.ts";
import {
  endedDelay,
  type SubscriptionChange,
  type SubscriptionRow,
  updateSubscriptionRow,
} from "./store.ts";
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
    const { secret, headers, ...given } = body;
    const settings = {
      ...withoutUndefined(given),
      ...(given.url === undefined ? {} : { url: new URL(given.url).href }),
    };
    const merged = { ...row, ...settings };
    permitPayload(ctx, merged, row);
    await permitSelection(tx, ctx, merged, row);
    if (selectionFields.some((field) => given[field] !== undefined)) requireDeliverable(merged);
    if (addressError !== undefined) throw addressError;
    const moves = originOf(merged) !== originOf(row);
    if (moves) requireSecretsFor(row, originOf(merged), body);
    else requireNoNewSecret(ctx.cipher, row, body);
    const replaced = { secret: moves ? secret : undefined, headers };
    const agentIds = agentLimit(ctx);
    const changesDestinationOrContent =
      merged.url !== row.url || merged.payload !== row.payload || headers !== undefined;
    if (agentIds !== undefined && changesDestinationOrContent)
      await endPendingAboutOthers(tx, row, agentIds);
    const columns = changedColumns(ctx.cipher, row, settings, replaced);
    const after = await showSubscription(tx, await updateSubscriptionRow(tx, row, columns));
    await record(tx, ctx, {
      action: "subscription.update",
      target: row.id,
      data: auditChanges(row, after, replaced),
    });
    return after;
  });
  ctx.deliveries.changed();
  return result;
}

/** The secret and headers that a change replaces; undefined for what stays. */
type Replaced = Pick<UpdateSubscriptionBody, "secret" | "headers">;

/** Returns the columns to write for new settings, and for a new secret and headers. */
function changedColumns(
  cipher: SecretCipher,
  row: SubscriptionRow,
  settings: SubscriptionChange & { readonly url?: string },
  { secret, headers }: Replaced,
): SubscriptionChange {
  const owner = { ...row, url: settings.url ?? row.url };
  const replacesReceiver =
    settings.url !== undefined || secret !== undefined || headers !== undefined;
  return {
    ...settings,
    // Clears `failing_since`, because failures with the old URL, secret or headers no longer count.
    // A subscription that is not enabled keeps it: when the subscription is resumed, the deliveries
    // that failed since that time are counted as missed.
    ...(replacesReceiver && row.status === "enabled" ? { failing_since: null } : {}),
    ...(replacesReceiver ? { not_before: endedDelay } : {}),
    ...(secret === undefined
      ? {}
      : {
          secret: encryptSigningSecret(cipher, owner, secret),
          previous_secret: null,
          previous_secret_until: null,
        }),
    ...(headers === undefined
      ? {}
      : {
          headers: encryptHeaders(cipher, owner, headers),
          header_names: Object.keys(headers).sort(),
        }),
  };
}

/** Returns what the audit log says about the change, without values of secrets and headers. */
function auditChanges(row: SubscriptionRow, after: Subscription, { secret, headers }: Replaced) {
  // The audit entry contains no health, so the health before the change is not read.
  const { version: _before, health: _none, ...was } = toSubscription(row, noDeliveries);
  const { version: _after, health: _health, ...is } = after;
  return {
    ...changes(was, is),
    ...(secret === undefined ? {} : { secret: "replaced" }),
    ...(headers === undefined ? {} : { headers: "replaced" }),
  };
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
