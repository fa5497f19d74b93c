import { createHash } from "node:crypto";
import { type Receiving, receiving, type Trigger } from "@beckon/contract";
import { requireAgent } from "../agents/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { hasUsableSecret } from "./secrets/index.ts";
import { findTrigger, findTriggerForChange, type TriggerRow } from "./store.ts";

export interface TriggerInput {
  readonly agentId: string;
  readonly triggerId: string;
}

/** A trigger with its token. The code in `http/` adds the URL, because it knows the public URL. */
export type TriggerWithToken = Trigger & { token: string };

export function toTrigger(ctx: Pick<Context, "cipher">, row: TriggerRow): Trigger {
  const receiving = receivingOf(row);
  return {
    id: row.id,
    agent_id: row.agent_id,
    version: versionOf(row),
    name: row.name,
    prompt_prefix: row.prompt_prefix,
    enabled: row.enabled,
    allows_callback: row.allows_callback,
    receiving,
    sender_secret_set: hasUsableSecret(ctx, row, receiving),
    listening_until: isListening(row) ? (row.listening_until?.toISOString() ?? null) : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * Returns a hash of everything that a PATCH can change. `updated_at` was rejected as the version:
 * it also changes with a new secret, and then a PATCH of unrelated settings would be rejected.
 */
export function versionOf(row: TriggerRow): string {
  const { name, prompt_prefix, enabled, allows_callback, receiving } = row;
  return createHash("sha256")
    .update(JSON.stringify([name, prompt_prefix, enabled, allows_callback, receiving]))
    .digest("base64url")
    .slice(0, 16);
}

/** Returns the trigger's settings for received requests; null if it has none. */
export function receivingOf(row: Pick<TriggerRow, "receiving">): Receiving | null {
  // Fields that were added to the schema after the settings were stored get their defaults.
  return row.receiving === null ? null : receiving.parse(row.receiving);
}

/**
 * Settings that are used for a trigger without any: they accept text, JSON and forms, and have
 * neither filter nor template.
 */
export const defaultReceiving: Receiving = receiving.parse({});

/** Returns the settings with which the trigger's requests are decoded and mapped. */
export function effectiveReceiving(row: Pick<TriggerRow, "receiving">): Receiving {
  return receivingOf(row) ?? defaultReceiving;
}

function isListening({ listening_until: until }: TriggerRow): boolean {
  return until !== null && until.getTime() > Date.now();
}

/**
 * Returns the trigger. @throws ApiError `not_found`, including when the trigger or agent is
 * deleted.
 */
export function requireTrigger(
  tx: WorkspaceTransaction,
  ctx: Context,
  input: TriggerInput,
): Promise<TriggerRow> {
  return findWith(tx, ctx, input, findTrigger);
}

/**
 * Returns the trigger and locks its row against other changes until the transaction ends.
 * @throws ApiError `not_found`, including when the trigger or agent is deleted.
 */
export function requireTriggerForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  input: TriggerInput,
): Promise<TriggerRow> {
  return findWith(tx, ctx, input, findTriggerForChange);
}

async function findWith(
  tx: WorkspaceTransaction,
  ctx: Context,
  input: TriggerInput,
  find: typeof findTrigger,
): Promise<TriggerRow> {
  await requireAgent(tx, ctx, input.agentId);
  const row = await find(tx, { workspaceId: ctx.workspaceId, ...input });
  if (row === undefined) throw new ApiError("not_found", "This agent has no trigger with this id.");
  return row;
}
