import type { SecretBinding } from "../../base/secrets/index.ts";

/**
 * Returns the binding (the additional authenticated data) of a trigger's sender secret or verify
 * token. The current and the previous sender secret have the same binding, so that a rotation can
 * move the encrypted text from the column `sender_secret` to `previous_sender_secret` without
 * decrypting it.
 */
export function bindingOfSenderSecret({
  workspaceId,
  triggerId,
  column,
}: {
  readonly workspaceId: string;
  readonly triggerId: string;
  readonly column: "sender_secret" | "verify_token";
}): SecretBinding {
  return {
    workspaceId,
    kind: column === "sender_secret" ? "sender secret" : "verify token",
    row: `${triggerId} ${column}`,
    remedy: "Set the secret of this trigger again, and enter it at the sender.",
  };
}
