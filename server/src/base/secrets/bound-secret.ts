import { ApiError } from "../errors.ts";
import type { SecretBinding, SecretCipher } from "./secret-cipher.ts";

/**
 * Identifies what a secret belongs to. Like `SecretBinding`, but `row` has several parts, to which
 * `bindingFor` appends the secret's origins.
 */
export interface SecretOwner extends Omit<SecretBinding, "row"> {
  readonly row: readonly string[];
}

/**
 * A stored secret for outgoing requests, and the origins (scheme, host, port) that it was given
 * for.
 */
interface BoundSecret {
  /** The encrypted secret, as `encryptFor` returned it. */
  readonly sealed: string;
  readonly origins: readonly string[];
}

/**
 * Returns the binding with which a secret is encrypted. With another owner or other origins the
 * secret cannot be decrypted.
 */
export function bindingFor(
  { row, ...owner }: SecretOwner,
  origins: readonly string[],
): SecretBinding {
  return { ...owner, row: JSON.stringify([...row, ...origins]) };
}

/** Encrypts a secret that is sent only to `origins`. */
export function encryptFor(
  cipher: SecretCipher,
  secret: string,
  owner: SecretOwner,
  origins: readonly string[],
): string {
  return cipher.encrypt(secret, bindingFor(owner, origins));
}

/**
 * Returns the decrypted secret for a request to `origin`. Checks the origin, although
 * `requireGivenFor` checks it when a change is stored: if code forgets that check, the secret is
 * still not sent to another origin.
 * @throws ApiError `secret_unreadable` if the secret was not given for this origin or cannot be
 *   decrypted.
 */
export function decryptFor(
  cipher: SecretCipher,
  { sealed, origins }: BoundSecret,
  owner: SecretOwner,
  origin: string,
): string {
  if (strayOrigin(origins, [origin]) !== undefined) {
    throw new ApiError(
      "secret_unreadable",
      `This ${owner.kind} was not given for ${origin} and is not sent there. ${owner.remedy}`,
    );
  }
  return cipher.decrypt(sealed, bindingFor(owner, origins));
}

/**
 * Checks that a stored secret was given for all origins in `wanted`. Called before a change after
 * which the secret would be sent to these origins. Without this check, a person who is allowed to
 * change the destination but does not know the secret could have it sent to a server of their own.
 * @param origins the origins that the secret was given for when it was entered.
 * @throws ApiError `bad_request`, with the message that `messageFor` returns for the first origin
 *   that the secret was not given for.
 */
export function requireGivenFor(
  origins: readonly string[],
  wanted: readonly string[],
  messageFor: (origin: string) => string,
): void {
  const stray = strayOrigin(origins, wanted);
  if (stray !== undefined) throw new ApiError("bad_request", messageFor(stray));
}

/**
 * Returns the first origin in `wanted` that the secret was not given for; undefined if there is
 * none. A secret is sent only to the origins that the person who entered it allowed.
 */
function strayOrigin(given: readonly string[], wanted: readonly string[]): string | undefined {
  return wanted.find((origin) => !given.includes(origin));
}
