import { randomBytes } from "node:crypto";
import type { Receiving } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { attempt } from "../../base/errors.ts";
import { senderSecretMistake } from "../../receiving/index.ts";
import type { TriggerRow } from "../store.ts";
import { bindingOfSenderSecret } from "./binding.ts";

type Column = "sender_secret" | "verify_token";
type Encryption = Pick<Context, "cipher">;

const bindingOf = ({ workspace_id, id }: TriggerRow, column: Column) =>
  bindingOfSenderSecret({ workspaceId: workspace_id, triggerId: id, column });

/** Returns a secret in the form in which it is stored in this column of the trigger. */
export function encryptSecret(
  { cipher }: Encryption,
  row: TriggerRow,
  column: Column,
  secret: string,
): string {
  return cipher.encrypt(secret, bindingOf(row, column));
}

/**
 * Returns a stored secret in plain text; null if none is stored.
 * @throws ApiError `secret_unreadable`
 */
export function decryptSecret(
  { cipher }: Encryption,
  row: TriggerRow,
  column: Column,
): string | null {
  const encrypted = row[column];
  return encrypted === null ? null : cipher.decrypt(encrypted, bindingOf(row, column));
}

/**
 * Returns whether the trigger has a sender secret that its verification can use. A secret that
 * cannot be decrypted counts as usable, because its form is not known. With `receiving` null, every
 * secret counts as usable.
 */
export function hasUsableSecret(
  ctx: Encryption,
  row: TriggerRow,
  receiving: Receiving | null,
): boolean {
  if (row.sender_secret === null || receiving === null) return row.sender_secret !== null;
  const opened = attempt(() => decryptSecret(ctx, row, "sender_secret"));
  const secret = opened.ok ? opened.value : null;
  return secret === null || senderSecretMistake(receiving.verification, secret) === undefined;
}

/** Returns a new token, which Meta must send in its handshake with the trigger. */
export function generateVerifyToken(): string {
  return randomBytes(24).toString("base64url");
}
