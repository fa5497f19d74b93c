import type { Database } from "../base/database/index.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { type FoundKey, findKeyBySecret } from "./store.ts";

/**
 * Returns the key to which a credential belongs, or undefined if the credential is malformed,
 * unknown or expired. After a rotation, the previous secret is valid until its grace period ends.
 */
export async function resolveKey(database: Database, text: string): Promise<FoundKey | undefined> {
  return hasKeyFormat(text) ? findKeyBySecret(database, hashCredential(text)) : undefined;
}

/**
 * Returns whether the text has the format of a key, without querying the database. A key has the
 * prefix `bkw_` and a valid checksum. A bootstrap key can be any 32 to 128 printable ASCII
 * characters without spaces that do not begin with `bkw_` or the prefix of a token.
 */
export function hasKeyFormat(text: string): boolean {
  if (text.startsWith("bkw_")) return isCredential("bkw_", text);
  return /^(?!bka_|bkt_)[\x21-\x7e]{32,128}$/.test(text);
}
