import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * What a credential of ours begins with: `bka_` agent token, `bkt_` trigger token, `bkw_` workspace key; of one-time links `bks_` setup,
 * `bki_` invitation, `bkr_` reset of a password.
 */
export type CredentialPrefix = "bka_" | "bkt_" | "bkw_" | "bks_" | "bki_" | "bkr_";

/**
 * A new credential: prefix, then 256 random bits and a CRC-32 of all before it, as 48 characters of base64url. The checksum lets
 * junk be refused without a query, and lets secret scanners tell a real one from noise.
 */
export function newCredential(prefix: CredentialPrefix): string {
  const secret = randomBytes(32);
  return prefix + Buffer.concat([secret, checksum(prefix, secret)]).toString("base64url");
}

/** Whether `text` is a credential we could have made. Says nothing about whether it lives. */
export function isCredential(prefix: CredentialPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || !/^[A-Za-z0-9_-]{48}$/.test(text.slice(prefix.length)))
    return false;
  const bytes = Buffer.from(text.slice(prefix.length), "base64url");
  return bytes.subarray(32).equals(checksum(prefix, bytes.subarray(0, 32)));
}

/**
 * What is stored in a credential's place: SHA-256 of the whole text. No salt and no pepper: with 256 random bits there is nothing to
 * guess, the look-up needs an index, and a lost master key must not lock every caller out.
 */
export function hashCredential(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

function checksum(prefix: string, secret: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(secret, crc32(prefix)));
  return sum;
}
