import {
  type Receiving,
  type Trigger,
  type TriggerWarning,
  updateTriggerBody,
} from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { attemptAsync, orThrow } from "../base/errors.ts";
import { withoutUndefined } from "../base/json/index.ts";
import { parse, type UnparsedBody } from "../base/parse.ts";
import type { MappingServices } from "../mapping/index.ts";
import { requireValidReceiving } from "./check-receiving.ts";
import { fillPreset } from "./fill-preset.ts";
import { type BodyServices, mistakesWithLastRequest } from "./requests/index.ts";
import { encryptSecret, generateVerifyToken } from "./secrets/index.ts";
import { type TriggerRow, updateTriggerRow } from "./store.ts";
import {
  receivingOf,
  requireTriggerForChange,
  type TriggerInput,
  toTrigger,
  versionOf,
} from "./trigger.ts";

/**
 * Changes a trigger's name, prompt prefix or settings, or enables or disables it. After the
 * response, requests to its URL are handled with the new settings.
 * @returns the trigger; `warnings` has the mistakes that a new filter or template makes with the
 *   last received request, unless the caller lacks `runs:read`. It also says if the trigger has a
 *   secret, but no longer verifies its requests.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`, `unavailable`; `stale` if `If-Match` is
 *   not the current version.
 */
export async function updateTrigger({
  ctx,
  input,
}: {
  ctx: Context & MappingServices & BodyServices;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Trigger & { warnings: TriggerWarning[] }> {
  permit(ctx, "triggers:write");
  const body = await attemptAsync(async () => {
    const given = parse(updateTriggerBody, fillPreset(orThrow(input.body)));
    await requireValidReceiving(ctx, given.receiving ?? null);
    return given;
  });
  const saved = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTriggerForChange(tx, ctx, input);
    requireMatchingVersion(ctx, "trigger", versionOf(row));
    const { receiving, ...fields } = orThrow(body);
    const changed = await updateTriggerRow(tx, row, {
      ...withoutUndefined(fields),
      receiving: receiving && JSON.stringify(receiving),
      ...(receiving?.handshake === "meta" ? missingVerifyToken(ctx, row) : {}),
    });
    const { version: _before, ...was } = toTrigger(ctx, row);
    const { version: _after, ...is } = toTrigger(ctx, changed);
    await record(tx, ctx, { action: "trigger.update", target: row.id, data: changes(was, is) });
    const isMapped = receiving !== undefined && receiving !== null;
    return { row: changed, isMapped, isUnverified: stopsVerifying(row, receiving) };
  });
  const { row, isMapped, isUnverified } = saved;
  const warnings: TriggerWarning[] = isMapped ? await mappingWarnings(ctx, row) : [];
  return {
    ...toTrigger(ctx, row),
    warnings: isUnverified ? [unverified, ...warnings] : warnings,
  };
}

const unverified: TriggerWarning = {
  part: "verification",
  message:
    "The trigger no longer verifies its requests, although it has a secret. To verify them, send receiving again, with its preset or a verification.",
  line: null,
};

/**
 * Returns whether the trigger has a secret and verified its requests with it, and the new settings
 * verify nothing. That can be a mistake: settings that a body leaves out get their defaults.
 */
function stopsVerifying(row: TriggerRow, receiving: Receiving | null | undefined): boolean {
  if (receiving === undefined || row.sender_secret === null) return false;
  return verificationOf(receivingOf(row)) !== "none" && verificationOf(receiving) === "none";
}

function verificationOf(receiving: Receiving | null) {
  return receiving?.verification.kind ?? "none";
}

/**
 * Returns a new verify token if the trigger has a secret but no verify token, because the secret
 * was set for another sender than Meta; else no fields. If the trigger has no secret yet,
 * `setSenderSecret` generates both.
 */
function missingVerifyToken(ctx: Context, row: TriggerRow): { verify_token?: string } {
  if (row.sender_secret === null || row.verify_token !== null) return {};
  return { verify_token: encryptSecret(ctx, row, "verify_token", generateVerifyToken()) };
}

/**
 * Returns the mistakes that the filter and the template make with the last received request.
 * Returns none if the caller cannot open received requests, or if the request cannot be evaluated:
 * the change of the trigger is already committed, so the caller must get no error.
 */
async function mappingWarnings(ctx: Context & MappingServices & BodyServices, row: TriggerRow) {
  const tried = await attemptAsync(() => mistakesWithLastRequest(ctx, row));
  return tried.ok ? tried.value : [];
}
