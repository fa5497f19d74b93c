import { ApiError } from "../errors.ts";
import type { SecretBinding, SecretCipher } from "./secret-cipher.ts";

/** Owner of a bound secret: a `Place` whose row has several parts. The origins become its last parts. */
export interface SecretOwner extends Omit<SecretBinding, "row"> {
  readonly row: readonly string[];
}

/** A stored secret that requests carry, and the origins (scheme, host, port) it was given for. */
interface BoundSecret {
  readonly sealed: string;
  readonly origins: readonly string[];
}

/** What a bound secret is encrypted for: under another owner, or with other origins, it does not open. */
export function boundPlace(
  { row, ...owner }: SecretOwner,
  origins: readonly string[],
): SecretBinding {
  return { ...owner, row: JSON.stringify([...row, ...origins]) };
}

/** Encrypts a secret that is sent to these origins and to no other. */
export function sealFor(
  cipher: SecretCipher,
  secret: string,
  owner: SecretOwner,
  origins: readonly string[],
): string {
  return cipher.encrypt(secret, boundPlace(owner, origins));
}

/**
 * Returns the secret in clear for a request to `origin`. Checks again what `requireGivenFor` checks at write time, so that a
 * change that forgets to call it leaks nothing.
 * @throws ApiError `secret_unreadable` if it was not given for this origin, or does not open.
 */
export function openFor(
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
  return cipher.decrypt(sealed, boundPlace(owner, origins));
}

/**
 * Checks a change after which the stored secret would be sent to `wanted`.
 * @throws ApiError `bad_request` with the message made for the first origin that it was not given for.
 */
export function requireGivenFor(
  origins: readonly string[],
  wanted: readonly string[],
  messageFor: (origin: string) => string,
): void {
  const stray = strayOrigin(origins, wanted);
  if (stray !== undefined) throw new ApiError("bad_request", messageFor(stray));
}

/** The rule for every secret with a destination: it goes only where whoever knew it sent it. */
function strayOrigin(given: readonly string[], wanted: readonly string[]): string | undefined {
  return wanted.find((origin) => !given.includes(origin));
}
