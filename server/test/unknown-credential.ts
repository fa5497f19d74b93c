import { type CredentialPrefix, newCredential } from "../src/base/secrets/credential.ts";

/** Returns a well-formed credential, with a valid checksum, that was never issued. */
export function unknownCredential(prefix: CredentialPrefix): string {
  return newCredential(prefix);
}
