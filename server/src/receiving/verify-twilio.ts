import { createHash, createHmac } from "node:crypto";
import { equalTexts } from "../base/secrets/index.ts";
import { formType, hasMoreFields, maxFormFields } from "./bodies/index.ts";
import { headerOf, mediaTypeOf, queryOf, type RawRequest } from "./raw-request.ts";
import { rejected, type VerificationResult, verified } from "./verification-result.ts";

const header = "x-twilio-signature";
/** Present if the request is signed with a SharedKey: `key=<id>,algorithm=HMAC_SHA256`. */
const settingsHeader = "x-twilio-webhooks-signature-settings";
/** Hash functions of Node.js by the name that Twilio gives to the algorithm. */
const hashes: Readonly<Record<string, string>> = { HMAC_SHA1: "sha1", HMAC_SHA256: "sha256" };

/**
 * Verifies Twilio's signature: an HMAC over the URL that Twilio requested and, for a form, its
 * fields sorted by name. For other bodies, the signed URL contains the body's hash as `bodySHA256`.
 * @param secrets auth tokens of the Twilio account or secrets of its SharedKeys, one or more.
 * @see https://www.twilio.com/docs/usage/webhooks/webhooks-security
 * @see https://www.twilio.com/docs/usage/webhooks/webhook-shared-keys
 */
export function verifyTwilio(secrets: readonly string[], request: RawRequest): VerificationResult {
  const signature = headerOf(request, header);
  if (signature === undefined) {
    return rejected(`The header ${header} is missing. Send the request from Twilio.`);
  }
  const algorithm = algorithmOf(headerOf(request, settingsHeader));
  const hash = hashes[algorithm];
  if (hash === undefined) {
    return rejected(
      `The header ${settingsHeader} names the algorithm ${JSON.stringify(algorithm)}. Set the ` +
        "SharedKey's algorithm to HMAC_SHA256 or HMAC_SHA1.",
    );
  }
  const bodyHash = queryOf(request).get("bodySHA256");
  const isForm = mediaTypeOf(headerOf(request, "content-type")) === formType;
  if (bodyHash === null && !isForm && request.body.length > 0) {
    return rejected(
      "The body is neither a form nor signed with bodySHA256. Send it as Twilio sends it.",
    );
  }
  if (bodyHash !== null && !isHashOf(bodyHash, request.body)) {
    return rejected("The body does not have the hash in bodySHA256. Send it unchanged.");
  }
  const form = bodyHash === null && isForm ? request.body.toString("utf8") : "";
  // The number of fields is checked first, because verifying the signature parses and sorts them.
  if (hasMoreFields(form, maxFormFields)) {
    return rejected(`The form has more than ${maxFormFields.toLocaleString("en")} fields.`);
  }
  const fields = sortedFields(form);
  const isValid = secrets.some((secret) =>
    urlsOf(request.url).some((url) => {
      const hmac = createHmac(hash, secret).update(url + fields);
      return equalTexts(signature, hmac.digest("base64"));
    }),
  );
  return isValid
    ? verified
    : rejected(
        `The signature in ${header} is not valid. Check the auth token, or the SharedKey's secret ` +
          "if one of your Webhooks Rules applies, and that PUBLIC_URL is the address that Twilio " +
          "requests.",
      );
}

/** Without settings, Twilio signs with the auth token and HMAC-SHA1. */
function algorithmOf(settings = ""): string {
  const [, algorithm = "HMAC_SHA1"] = /(?:^|,)\s*algorithm\s*=\s*([^,\s]+)/.exec(settings) ?? [];
  return algorithm.slice(0, 50).toUpperCase();
}

function isHashOf(bodyHash: string, body: Buffer): boolean {
  return equalTexts(bodyHash.toLowerCase(), createHash("sha256").update(body).digest("hex"));
}

/**
 * Returns the fields as Twilio signs them: name and value, sorted by name. If a field is sent
 * several times, each distinct value is signed once, in sorted order.
 */
function sortedFields(form: string): string {
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, new Set([value]));
    else values.add(value);
  }
  return [...fields.keys()]
    .sort()
    .flatMap((name) => [...(fields.get(name) ?? [])].sort().map((value) => name + value))
    .join("");
}

/**
 * Returns two forms of the URL: without a port, and with its port or, if it has none, the standard
 * port of its scheme. Twilio signs one of them, depending on the product.
 */
function urlsOf(url: string): string[] {
  const match = /^(https?):\/\/([^/?#]*?)(:\d+)?((?:[/?#].*)?)$/i.exec(url);
  if (match === null) return [url];
  const [, scheme = "", host = "", port, rest = ""] = match;
  const standardPort = scheme.toLowerCase() === "https" ? ":443" : ":80";
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}${port ?? standardPort}${rest}`];
}
