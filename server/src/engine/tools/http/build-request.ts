import {
  type HttpOperation,
  type HttpToolGrant,
  isAllowed,
  isDotSegment,
  parseUrlTemplate,
  type SecretKept,
  soleName,
} from "@beckon/contract";
import { ToolFailure } from "../../tool.ts";
import { fill, inHeader, inPath, inQuery, textOf, type Values } from "./fill-template.ts";

const maxUrlLength = 8_000;
const maxBodyBytes = 262_144;
const maxHeaderLength = 8_000;

/** A request but for its secrets, which are read when it is sent. */
export interface HttpRequest {
  readonly method: string;
  readonly origin: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | undefined;
  readonly secrets: readonly PlacedSecret[];
}

export interface PlacedSecret {
  readonly where: "header" | "query";
  readonly name: string;
  readonly secret: SecretKept;
}

/**
 * The request that an operation makes of these values. Whatever they are, method, scheme, host, port, the number of the path's
 * segments, the names in the query and the headers are those of the configuration.
 *
 * @throws ToolFailure when a value cannot stand in its place, or the request grows too large.
 */
export function buildRequest(
  grant: HttpToolGrant,
  operation: HttpOperation,
  values: Values,
  body: unknown,
): HttpRequest {
  const url = parseUrlTemplate(operation.url);
  if (typeof url === "string") throw new Error(`the URL of ${operation.name} ${url}`);
  const path = fill(url.path, values, inPath);
  if (path.split("/").some(isDotSegment))
    throw new ToolFailure("A part of the path must not be . or .. alone.");

  const members = [...Object.entries(grant.query), ...Object.entries(operation.query)];
  const query = [
    ...(url.query === "" ? [] : [fill(url.query, values, inQuery)]),
    ...members.flatMap(([name, value]) =>
      typeof value === "string"
        ? filledMembers(value, values).map((text) => `${inQuery(name)}=${text}`)
        : [],
    ),
  ].join("&");
  const target = query === "" ? path : `${path}?${query}`;
  if (target.length > maxUrlLength)
    throw new ToolFailure(`The URL would be longer than ${maxUrlLength} characters. Send less.`);

  const json = body === undefined ? undefined : JSON.stringify(body);
  if (json !== undefined && Buffer.byteLength(json) > maxBodyBytes) {
    throw new ToolFailure(`The body would be larger than ${maxBodyBytes} bytes. Send less.`);
  }
  const request = {
    method: operation.method,
    origin: url.origin,
    target,
    headers: headersOf(grant, operation, values, json !== undefined),
    body: json,
    secrets: secretsOf(grant, operation),
  };
  holdTo(url.origin, grant, request);
  return request;
}

/** None when the value was left out, several for a list. */
function filledMembers(template: string, values: Values): string[] {
  const whole = soleName(template);
  const value = whole === undefined ? undefined : values.get(whole);
  if (whole === undefined) return [fill(template, values, inQuery)];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((each) => inQuery(textOf(each)));
}

function headersOf(
  grant: HttpToolGrant,
  operation: HttpOperation,
  values: Values,
  hasBody: boolean,
): Map<string, string> {
  const headers = new Map([
    ["accept", "application/json, */*;q=0.5"],
    ["user-agent", "Beckon"],
    ...(hasBody ? [["content-type", "application/json"] as const] : []),
  ]);
  for (const [name, value] of [
    ...Object.entries(grant.headers),
    ...Object.entries(operation.headers),
  ]) {
    const whole = typeof value === "string" ? soleName(value) : undefined;
    if (typeof value !== "string" || (whole !== undefined && values.get(whole) == null)) continue;
    const text = fill(value, values, inHeader).trim();
    if (text.length > maxHeaderLength)
      throw new ToolFailure(
        `The header ${name} would be longer than ${maxHeaderLength} characters. Send less.`,
      );
    headers.set(name.toLowerCase(), text);
  }
  return headers;
}

function secretsOf(grant: HttpToolGrant, operation: HttpOperation): PlacedSecret[] {
  const placed = (where: PlacedSecret["where"], values: HttpToolGrant["headers"]) =>
    Object.entries(values).flatMap(([name, secret]) =>
      typeof secret === "string" ? [] : [{ where, name, secret }],
    );
  return [grant, operation].flatMap(({ headers, query }) => [
    ...placed("header", headers),
    ...placed("query", query),
  ]);
}

/** What the encoding already sees to, looked at once more where it matters: as the URL standard reads it. */
function holdTo(origin: string, { allowed_hosts }: HttpToolGrant, { target }: HttpRequest): void {
  const url = new URL(origin + target);
  if (url.origin !== origin || !isAllowed(url.origin, allowed_hosts))
    throw new ToolFailure("The URL would lead to a host that is not allowed.");
}
