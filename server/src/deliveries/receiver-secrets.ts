import {
  decryptFor,
  encryptFor,
  type SecretCipher,
  type SecretOwner,
} from "../base/secrets/index.ts";

/** The parts of a subscription's row that its secrets are bound to. */
export interface SecretsOwner {
  readonly id: string;
  readonly workspace_id: string;
  readonly url: string;
}

/** Encrypted columns of `subscriptions`. `headers` is a JSON object. */
export type SecretColumn = "secret" | "previous_secret" | "headers";

/**
 * Returns what an encrypted column of a subscription belongs to. A rotation moves the text of
 * `secret` to `previous_secret`, so both have the same owner.
 */
export function ownerOfColumn(
  { id, workspace_id }: Pick<SecretsOwner, "id" | "workspace_id">,
  column: SecretColumn,
): SecretOwner {
  const ofHeaders = column === "headers";
  return {
    workspaceId: workspace_id,
    kind: ofHeaders ? "subscription's headers" : "subscription's secret",
    row: [id, ofHeaders ? "headers" : "secret"],
    remedy: ofHeaders ? "Enter the headers again." : "Rotate the secret.",
  };
}

/** Encrypts a column for the origin of the subscription's URL. */
export function encryptColumn(
  cipher: SecretCipher,
  owner: SecretsOwner,
  column: SecretColumn,
  text: string,
): string {
  return encryptFor(cipher, text, ownerOfColumn(owner, column), [new URL(owner.url).origin]);
}

/**
 * Decrypts a column for a request to the origin of `url`.
 * @param url where the text is sent; default: the subscription's URL.
 * @throws ApiError `secret_unreadable` if the text was encrypted for another origin or with another
 *   master key.
 */
export function decryptColumn(
  cipher: SecretCipher,
  owner: SecretsOwner,
  column: SecretColumn,
  sealed: string,
  url = owner.url,
): string {
  const origins = [new URL(owner.url).origin];
  return decryptFor(cipher, { sealed, origins }, ownerOfColumn(owner, column), new URL(url).origin);
}
