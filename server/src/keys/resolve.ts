import type { Database } from "../base/database/index.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { type FoundKey, findKeyBySecret } from "./store.ts";

/** The key behind a credential, or undefined: malformed, unknown, replaced or expired. */
export async function resolveKey(database: Database, text: string): Promise<FoundKey | undefined> {
  return mayBeKey(text) ? findKeyBySecret(database, hashCredential(text)) : undefined;
}

/** A bootstrap key has no form of ours; what has our prefix and a wrong checksum is junk and costs no query. */
export function mayBeKey(text: string): boolean {
  if (text.startsWith("bkw_")) return isCredential("bkw_", text);
  return /^(?!bka_|bkt_)[\x21-\x7e]{32,128}$/.test(text);
}
