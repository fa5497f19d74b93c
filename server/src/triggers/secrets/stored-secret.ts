import { randomBytes } from "node:crypto";
import type { Receiving, SenderSecrets } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { attempt } from "../../base/errors.ts";
import type { SecretBinding, SecretCipher } from "../../base/secrets/index.ts";
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

/** Returns a stored secret in plain text; null if none is stored or it cannot be decrypted. */
export function readableSecret(
  { cipher }: Encryption,
  row: TriggerRow,
  column: Column,
): string | null {
  return readableText(cipher, row[column], bindingOf(row, column));
}

/** Like `readableSecret`, for a secret that was read without its row. */
export function readableText(
  cipher: SecretCipher,
  encrypted: string | null,
  binding: SecretBinding,
): string | null {
  if (encrypted === null) return null;
  const decrypted = attempt(() => cipher.decrypt(encrypted, binding));
  return decrypted.ok ? decrypted.value : null;
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
  const secret = readableSecret(ctx, row, "sender_secret");
  return secret === null || senderSecretMistake(receiving.verification, secret) === undefined;
}

/** Returns a new token, which Meta must send in its handshake with the trigger. */
export function generateVerifyToken(): string {
  return randomBytes(24).toString("base64url");
}

/** Returns the secrets as responses show them. */
export function toSenderSecrets(
  row: TriggerRow,
  secret: string,
  verifyToken: string | null,
): SenderSecrets {
  const until = row.previous_sender_secret_until;
  const isValid = row.previous_sender_secret !== null && until !== null && until > new Date();
  return {
    secret,
    verify_token: verifyToken,
    previous_until: isValid ? until.toISOString() : null,
  };
}
