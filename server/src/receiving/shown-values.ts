import { isCredentialHeader, isStorableText, type Receiving } from "@beckon/contract";
import { queryOf, type RawRequest } from "./raw-request.ts";

/**
 * Returns the headers of a request that can be stored and shown: all except credentials, secrets,
 * cookies and signatures. Names are in lower case.
 */
export function storedHeaders(
  { verification }: Pick<Receiving, "verification">,
  { headers }: Pick<RawRequest, "headers">,
): Record<string, string> {
  const secretHeader = "header" in verification ? verification.header : undefined;
  const stored: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === secretHeader || isCredentialHeader(name)) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    if (isStorableText(text)) stored.push([name, text]);
  }
  return Object.fromEntries(stored);
}

/** Returns the headers that the agent sees: the chosen ones that are present and can be stored. */
export function chosenHeaders(
  settings: Pick<Receiving, "headers" | "verification">,
  request: Pick<RawRequest, "headers">,
): Record<string, string> {
  const stored = storedHeaders(settings, request);
  return Object.fromEntries(
    settings.headers.flatMap((name) => {
      const value = Object.hasOwn(stored, name) ? stored[name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
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
