import { createHmac } from "node:crypto";
import type { HmacVerification } from "@beckon/contract";
import { parseJson } from "../base/json/index.ts";
import { equalTexts } from "../base/secrets/index.ts";
import { formType, maxFormFields, urlEncodedFields } from "./bodies/index.ts";
import { valueAt } from "./json-pointer.ts";
import { headerOf, mediaTypeOf, type RawRequest } from "./raw-request.ts";
import { keyOf } from "./secret-key.ts";
import { rejected, type VerificationResult, verified } from "./verification-result.ts";

/** Maximum number of signatures in one header. A sender that rotates its secret sends two. */
const maxSignatures = 20;

/**
 * Verifies an HMAC (RFC 2104) over parts of the request. One signature that is valid with one of
 * the secrets is enough.
 * @param secrets at least one; none is an empty string.
 */
export function verifyHmac(
  settings: HmacVerification,
  secrets: readonly string[],
  request: RawRequest,
): VerificationResult {
  const { header } = settings;
  const value = headerOf(request, header);
  if (value === undefined) {
    return rejected(`The header ${header} is missing. Sign the request with the trigger's secret.`);
  }
  const signatures = signaturesIn(value, settings);
  if (signatures.length === 0 || signatures.length > maxSignatures) {
    return rejected(
      `The header ${header} has no signature in the form that this trigger expects. Check its settings.`,
    );
  }
  const parts = signedParts(settings, value, request);
  if (typeof parts === "string") return rejected(parts);
  const keys = secrets.map((secret) => keyOf(secret, settings.secret_encoding));
  const isValid = keys.some(
    (key) => key !== undefined && isSignedWith(key, settings, parts, signatures),
  );
  if (!isValid) {
    return rejected(
      `The signature in ${header} is not valid. Check that sender and trigger have the same secret.`,
    );
  }
  return verifyAge(settings, value, request);
}

/** Returns the signatures in the header, without their prefix. */
function signaturesIn(value: string, { form, prefix }: HmacVerification): string[] {
  switch (form) {
    case "plain":
      return value.startsWith(prefix) ? [value.slice(prefix.length)] : [];
    case "pairs":
      return pairsNamed(value, prefix);
    case "list":
      return value
        .split(" ")
        .filter((each) => each.startsWith(prefix))
        .map((each) => each.slice(prefix.length));
  }
}

/** Returns the values of the pairs with this name in `a=1,b=2`. */
function pairsNamed(value: string, name: string): string[] {
  return value
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Returns the parts that are signed, or the reason why one of them is missing. */
function signedParts(
  { signed, timestamp, id }: HmacVerification,
  signatureHeader: string,
  request: RawRequest,
): (string | Buffer)[] | string {
  const parts: (string | Buffer)[] = [];
  for (const part of signed) {
    if (part === "body") {
      parts.push(request.body);
    } else if (typeof part === "object") {
      parts.push(Buffer.from(part.literal));
    } else {
      const text =
        part === "timestamp"
          ? timestampText(timestamp, signatureHeader, request)
          : id && headerOf(request, id.header);
      if (text === undefined || text === null || text === "") {
        return `The signed ${part} is missing. Send it as the trigger's settings say.`;
      }
      parts.push(text);
    }
  }
  return parts;
}

/**
 * Returns the timestamp in a header of its own, or in a pair such as `t=1700000000` in the header
 * of the signature. Undefined if it is absent or in the body, or if there are several such pairs.
 */
function timestampText(
  location: HmacVerification["timestamp"],
  signatureHeader: string,
  request: RawRequest,
): string | undefined {
  if (location === null || "pointer" in location) return undefined;
  if ("header" in location) return headerOf(request, location.header);
  const [text, ...others] = pairsNamed(signatureHeader, location.pair);
  return others.length === 0 ? text : undefined;
}

function isSignedWith(
  key: Buffer,
  { algorithm, encoding }: HmacVerification,
  parts: readonly (string | Buffer)[],
  signatures: readonly string[],
): boolean {
  const hmac = createHmac(algorithm, key);
  for (const part of parts) {
    // Node decodes headers as Latin-1, so this encoding restores their bytes.
    if (typeof part === "string") hmac.update(part, "latin1");
    else hmac.update(part);
  }
  const expected = hmac.digest(encoding);
  return signatures.some((signature) =>
    equalTexts(encoding === "hex" ? signature.toLowerCase() : signature, expected),
  );
}

/** Rejects a request whose timestamp differs too much from the time of arrival. */
function verifyAge(
  { timestamp, tolerance_seconds }: HmacVerification,
  signatureHeader: string,
  request: RawRequest,
): VerificationResult {
  if (timestamp === null) return verified;
  const timeMs =
    "pointer" in timestamp
      ? timeOf(bodyValueAt(request, timestamp.pointer))
      : timeOf(timestampText(timestamp, signatureHeader, request));
  if (timeMs === undefined) {
    return rejected("The timestamp is missing or not a time. Send a Unix time or RFC 3339 time.");
  }
  return Math.abs(request.receivedAtMs - timeMs) <= tolerance_seconds * 1_000
    ? verified
    : rejected(
        `The timestamp is more than ${tolerance_seconds} seconds from the time of arrival. ` +
          "Compare the clocks of the sender and of this server, and sign each attempt anew.",
      );
}

/**
 * Returns the text or number at a pointer in a JSON or URL-encoded body, as text; undefined if there
 * is none.
 */
function bodyValueAt(request: RawRequest, pointer: string): string | undefined {
  const text = request.body.toString("utf8");
  const contentType = headerOf(request, "content-type");
  try {
    const fields =
      mediaTypeOf(contentType) === formType
        ? urlEncodedFields(text, { contentType, maxFields: maxFormFields })
        : undefined;
    const value = valueAt(fields ?? parseJson(text), pointer);
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the Unix time in milliseconds; undefined if the text is not a time. Numbers of up to 11
 * digits are seconds, longer ones milliseconds. 11 digits of seconds last until the year 5138, and
 * 11 digits of milliseconds ended in 1973.
 */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,11}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1_000;
  if (/^\d{12,14}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i.test(text)) {
    return undefined;
  }
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
