import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Prefix of a credential. Agent tokens have `bka_`, trigger tokens `bkt_` and workspace keys
 * `bkw_`. The secrets in one-time links have `bks_` (setup), `bki_` (invitation) and `bkr_`
 * (password reset).
 */
export type CredentialPrefix = "bka_" | "bkt_" | "bkw_" | "bks_" | "bki_" | "bkr_";

/**
 * Returns a new credential: the prefix, then 256 random bits and a CRC-32 of everything before, as
 * 48 characters of base64url. The checksum allows malformed credentials to be rejected without a
 * query, and secret scanners to avoid false positives.
 */
export function newCredential(prefix: CredentialPrefix): string {
  const secret = randomBytes(32);
  return prefix + Buffer.concat([secret, checksum(prefix, secret)]).toString("base64url");
}

/**
 * Returns whether `text` has the form and checksum of a credential. The credential may still be
 * unknown, expired or revoked.
 */
export function isCredential(prefix: CredentialPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || !/^[A-Za-z0-9_-]{48}$/.test(text.slice(prefix.length)))
    return false;
  const bytes = Buffer.from(text.slice(prefix.length), "base64url");
  return bytes.subarray(32).equals(checksum(prefix, bytes.subarray(0, 32)));
}

/**
 * Returns the SHA-256 of a credential. The database stores this hash instead of the credential. The
 * hash has no salt, because 256 random bits cannot be guessed and the hash is looked up by an
 * index. It has no pepper, because a pepper derived from the master key would lock all callers out
 * if that key is lost.
 */
export function hashCredential(text: string): Buffer {
  // `hash` returns hex here, because it takes several times as long to return a buffer.
  return Buffer.from(hash("sha256", text, "hex"), "hex");
}

function checksum(prefix: string, secret: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(secret, crc32(prefix)));
  return sum;
}
