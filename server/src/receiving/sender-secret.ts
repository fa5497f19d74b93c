import { randomBytes } from "node:crypto";
import type { Verification } from "@beckon/contract";
import { keyOf } from "./secret-key.ts";

/** Returns a new secret, made from 32 random bytes, in the form that the verification needs. */
export function generateSenderSecret(verification: Verification): string {
  const bytes = randomBytes(32);
  if (verification.kind === "basic") return `beckon:${bytes.toString("base64url")}`;
  if (verification.kind !== "hmac") return bytes.toString("base64url");
  switch (verification.secret_encoding) {
    case "text":
      return bytes.toString("base64url");
    case "hex":
      return bytes.toString("hex");
    case "base64":
      return bytes.toString("base64");
    case "whsec":
      return `whsec_${bytes.toString("base64")}`;
  }
}

/**
 * Returns what is wrong with a secret for this verification, as the rest of a sentence that starts
 * with the name of the field; undefined if it can be used.
 */
export function senderSecretMistake(
  verification: Verification,
  secret: string,
): string | undefined {
  if (verification.kind === "basic") {
    return secret.includes(":") ? undefined : "must be user and password, separated by a colon";
  }
  if (verification.kind !== "hmac") return undefined;
  const { secret_encoding: encoding } = verification;
  if (keyOf(secret, encoding) !== undefined) return undefined;
  return encoding === "whsec"
    ? "must be base64, with or without whsec_ before it"
    : `must be ${encoding}`;
}
