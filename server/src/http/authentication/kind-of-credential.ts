/**
 * Returns the kind of a credential in the header `x-api-key`, valid or not. The prefix decides: a
 * key that the operator chooses, unlike generated ones, has no prefix, but cannot have this one.
 */
export function kindOfCredential(credential: string): "token" | "key" {
  return credential.startsWith("bka_") ? "token" : "key";
}
