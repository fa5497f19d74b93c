import { isCredentialHeader, isStorableText, type Receiving } from "@beckon/contract";
import { headerOf, queryOf, type RawRequest } from "./raw-request.ts";

/**
 * Returns the headers of a request that can be stored and shown: all except credentials, secrets,
 * cookies and signatures. Names are in lower case.
 */
export function storedHeaders(
  settings: Pick<Receiving, "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  return headersOf(Object.keys(request.headers), settings, request);
}

/** Returns the headers that the agent sees: the chosen ones that are present and can be stored. */
export function chosenHeaders(
  settings: Pick<Receiving, "headers" | "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  return headersOf(settings.headers, settings, request);
}

function headersOf(
  names: readonly string[],
  { verification }: Pick<Receiving, "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  const secretHeader = "header" in verification ? verification.header : undefined;
  const shown: [string, string][] = [];
  for (const name of names) {
    if (name === secretHeader || isCredentialHeader(name)) continue;
    const value = headerOf(request, name);
    if (value !== undefined && isStorableText(value)) shown.push([name, value]);
  }
  return Object.fromEntries(shown);
}

/** Returns the chosen query parameters that are present, repeated ones joined by commas. */
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
