import { randomBytes } from "node:crypto";
import { attempt } from "../base/errors.ts";
import {
  bindingFor,
  decryptFor,
  encryptFor,
  equalTexts,
  type SecretCipher,
  type SecretOwner,
} from "../base/secrets/index.ts";

/**
 * The columns of a subscription that its encrypted texts are bound to. A text that is copied to
 * another subscription, or used with another origin, cannot be decrypted.
 */
export interface SubscriptionOwner {
  readonly id: string;
  readonly workspace_id: string;
  /** The encrypted texts are sent only to the origin of this URL. */
  readonly url: string;
}

const kinds = {
  secret: { kind: "signing secret", remedy: "Give the subscription a new secret: rotate it." },
  headers: {
    kind: "list of extra headers",
    remedy: "Set the subscription's headers again.",
  },
} as const;

function ownerOf(kind: keyof typeof kinds, { id, workspace_id }: SubscriptionOwner): SecretOwner {
  return { workspaceId: workspace_id, row: [id], ...kinds[kind] };
}

/** Returns the owner and the origin that an encrypted text of a subscription is bound to. */
export const bindingOf = (kind: keyof typeof kinds, owner: SubscriptionOwner) =>
  bindingFor(ownerOf(kind, owner), [originOf(owner)]);

function encrypt(
  cipher: SecretCipher,
  kind: keyof typeof kinds,
  owner: SubscriptionOwner,
  text: string,
): string {
  return encryptFor(cipher, text, ownerOf(kind, owner), [originOf(owner)]);
}

function decrypt(
  cipher: SecretCipher,
  kind: keyof typeof kinds,
  owner: SubscriptionOwner,
  encrypted: string,
): string {
  const origin = originOf(owner);
  return decryptFor(cipher, { sealed: encrypted, origins: [origin] }, ownerOf(kind, owner), origin);
}

/**
 * Returns the origin of a subscription's URL. The encryption of secret and headers is bound to it:
 * they cannot be decrypted for another origin, so that a changed URL never receives them.
 */
export function originOf({ url }: Pick<SubscriptionOwner, "url">): string {
  return new URL(url).origin;
}

/** Returns a new signing secret with 256 random bits, in the form of Standard Webhooks. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Encrypts a signing secret. Only a subscription whose URL has the same origin can use it. */
export function encryptSigningSecret(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  secret: string,
): string {
  return encrypt(cipher, "secret", owner, secret);
}

/**
 * Returns a decrypted signing secret.
 * @param encrypted the column `secret` or `previous_secret`.
 * @throws ApiError `secret_unreadable` if the secret was encrypted with another master key, or for
 *   another origin.
 */
export function decryptSigningSecret(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  encrypted: string,
): string {
  return decrypt(cipher, "secret", owner, encrypted);
}

/** Returns whether this is the encrypted signing secret; false if that cannot be decrypted. */
export function isSigningSecret(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  encrypted: string,
  secret: string,
): boolean {
  const stored = attempt(() => decryptSigningSecret(cipher, owner, encrypted));
  return stored.ok && equalTexts(stored.value, secret);
}

/**
 * Encrypts extra headers; null if there are none. Only a subscription whose URL has the same origin
 * can use them.
 */
export function encryptHeaders(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  headers: Readonly<Record<string, string>>,
): string | null {
  if (Object.keys(headers).length === 0) return null;
  return encrypt(cipher, "headers", owner, JSON.stringify(headers));
}

/**
 * Returns the decrypted extra headers.
 * @throws ApiError `secret_unreadable`, like `decryptSigningSecret`.
 */
export function decryptHeaders(
  cipher: SecretCipher,
  owner: SubscriptionOwner,
  encrypted: string | null,
): Record<string, string> {
  if (encrypted === null) return {};
  return JSON.parse(decrypt(cipher, "headers", owner, encrypted)) as Record<string, string>;
}
