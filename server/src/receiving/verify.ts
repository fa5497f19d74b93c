import type { Receiving } from "@beckon/contract";
import { equalTexts } from "../base/secrets/index.ts";
import { headerOf, type RawRequest } from "./raw-request.ts";
import {
  rejected,
  type ValidSecrets,
  type VerificationResult,
  verified,
} from "./verification-result.ts";
import { verifyHmac } from "./verify-hmac.ts";
import { verifyTwilio } from "./verify-twilio.ts";

/**
 * Verifies that a request comes from the sender with which the trigger shares a secret. Signatures
 * are computed from the bytes as they were received. If the trigger has no secret, every request is
 * rejected, unless the trigger is set to verify nothing. Secrets and signatures are compared in
 * constant time.
 */
export function verifyRequest(
  { verification }: Pick<Receiving, "verification">,
  { current, previous }: ValidSecrets,
  request: RawRequest,
): VerificationResult {
  if (verification.kind === "none") return verified;
  const secrets = [current, previous].filter((secret): secret is string => Boolean(secret));
  if (secrets.length === 0) {
    return rejected(
      "This trigger verifies requests and has no secret. Set the sender's secret, then send again.",
    );
  }
  switch (verification.kind) {
    case "hmac":
      return verifyHmac(verification, secrets, request);
    case "twilio":
      return verifyTwilio(secrets, request);
    case "header":
      return verifyHeader(verification, secrets, request);
    case "basic":
      return verifyBasic(secrets, request);
  }
}

function verifyHeader(
  { header, prefix }: { readonly header: string; readonly prefix: string },
  secrets: readonly string[],
  request: RawRequest,
): VerificationResult {
  const value = headerOf(request, header);
  if (value === undefined) {
    return rejected(`The header ${header} is missing. Send the trigger's secret in it.`);
  }
  // Schemes of authentication, such as Bearer, are case-insensitive (RFC 9110, section 11.1).
  const given =
    value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
      ? value.slice(prefix.length)
      : undefined;
  return given !== undefined && secrets.some((secret) => equalTexts(given, secret))
    ? verified
    : rejected(
        `The header ${header} does not have the trigger's secret. Check the sender's secret.`,
      );
}

/** @see RFC 7617, section 2 */
function verifyBasic(secrets: readonly string[], request: RawRequest): VerificationResult {
  const value = headerOf(request, "authorization");
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(value ?? "")?.[1];
  if (encoded === undefined) {
    return rejected(
      "The header authorization has no basic authentication. Send the trigger's user and password.",
    );
  }
  const given = Buffer.from(encoded, "base64").toString("utf8");
  // A secret without a colon was set for another verification. It is no user and password.
  const usable = secrets.filter((secret) => secret.includes(":"));
  return usable.some((secret) => equalTexts(given, secret))
    ? verified
    : rejected("User or password is wrong. Check those that the sender sends.");
}
