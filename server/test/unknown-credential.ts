import { type CredentialPrefix, newCredential } from "../src/base/secrets/credential.ts";

/** A credential as Beckon would make it, checksum and all, that nobody was given. */
export function unknownCredential(prefix: CredentialPrefix): string {
  return newCredential(prefix);
}
