import {
  isCredentialHeader,
  isStorableText,
  type Receiving,
  type Verification,
} from "@beckon/contract";
import { headerOf, queryOf, type RawRequest } from "./raw-request.ts";

/**
 * Returns the headers of a request that can be stored and shown: all except credentials, secrets,
 * cookies and signatures. Names are in lower case. The tokens of triggers in their values are
 * replaced by `[secret]`.
 */
export function storedHeaders(
  settings: Pick<Receiving, "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  return headersOf(Object.keys(request.headers), settings, request);
}

/**
 * Returns the headers that the agent sees: those that are chosen in the trigger's settings, are
 * present and can be stored. Credentials are left out.
 */
export function chosenHeaders(
  settings: Pick<Receiving, "headers" | "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  return headersOf(settings.headers, settings, request);
}

/**
 * Returns whether a header contains a credential, a secret or a signature, by its name or because
 * requests are verified with it.
 * @param name in lower case.
 */
export function isSecretHeader(verification: Verification, name: string): boolean {
  return ("header" in verification && verification.header === name) || isCredentialHeader(name);
}

function headersOf(
  names: readonly string[],
  { verification }: Pick<Receiving, "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  const shown: [string, string][] = [];
  for (const name of names) {
    if (isSecretHeader(verification, name)) continue;
    const value = headerOf(request, name);
    if (value !== undefined && isStorableText(value))
      shown.push([name, withoutTriggerTokens(value)]);
  }
  return Object.fromEntries(shown);
}

/**
 * Returns the value with each token of a trigger replaced by `[secret]`. Headers can contain the
 * trigger's URL, and with it the token: a proxy that rewrites the path of a request may send the
 * original path in a header such as `x-original-url`, and browsers send a page's URL in `referer`.
 */
export function withoutTriggerTokens(value: string): string {
  return value.replaceAll(/bkt_[\w-]{40,}/g, "[secret]");
}

/**
 * Returns the query parameters that are chosen in the trigger's settings and present in the
 * request. The values of a repeated parameter are joined by commas.
 */
export function chosenQuery(
  { query }: Pick<Receiving, "query">,
  request: Pick<RawRequest, "url">,
): Record<string, string> {
  if (query.length === 0) return {};
  const given = queryOf(request);
  return Object.fromEntries(
    query.flatMap((name) => {
      const values = given.getAll(name).filter(isStorableText);
      return values.length === 0 ? [] : [[name, values.join(", ")]];
    }),
  );
}
