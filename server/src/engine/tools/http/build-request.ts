import {
  type HttpOperation,
  type HttpToolGrant,
  isAllowed,
  isDotSegment,
  parseUrlTemplate,
  type SecretKept,
  soleName,
} from "@beckon/contract";
import { isJsonObject } from "../../../base/json/index.ts";
import { ToolFailure } from "../../tool.ts";
import {
  checkHeaderText,
  encodePathText,
  encodeQueryText,
  fillTemplate,
  textOf,
  type Values,
} from "./fill-template.ts";

const maxUrlLength = 8_000;
const maxBodyBytes = 262_144;
const maxHeaderLength = 8_000;

/** An HTTP request without the text of its secrets, which is decrypted when the request is sent. */
export interface HttpRequest {
  readonly method: string;
  readonly origin: string;
  /** Path and query of the URL. */
  readonly target: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | undefined;
  readonly secrets: readonly RequestSecret[];
}

export interface RequestSecret {
  readonly location: "header" | "query";
  readonly name: string;
  readonly secret: SecretKept;
}

/**
 * Builds an operation's request from the values that the model chose. These values cannot change
 * the method, scheme, host, port, number of path segments, or names of query parameters and
 * headers, because all of these come from the configuration.
 *
 * @throws {ToolFailure} a value is not allowed in its position, or the request is too large.
 */
export function buildRequest(
  grant: HttpToolGrant,
  operation: HttpOperation,
  values: Values,
  body: unknown,
): HttpRequest {
  const url = parseUrlTemplate(operation.url);
  if (typeof url === "string") throw new Error(`the URL of ${operation.name} ${url}`);
  const path = fillTemplate(url.path, values, encodePathText);
  if (path.split("/").some(isDotSegment))
    throw new ToolFailure("A part of the path must not be . or .. alone.");

  const parameters = [...Object.entries(grant.query), ...Object.entries(operation.query)];
  const query = [
    ...(url.query === "" ? [] : [fillTemplate(url.query, values, encodeQueryText)]),
    ...parameters.flatMap(([name, value]) =>
      typeof value === "string"
        ? queryValues(value, values).map((text) => `${encodeQueryText(name)}=${text}`)
        : [],
    ),
  ].join("&");
  const target = query === "" ? path : `${path}?${query}`;
  if (target.length > maxUrlLength)
    throw new ToolFailure(`The URL would be longer than ${maxUrlLength} characters. Send less.`);

  const isForm = operation.body_type === "form";
  const text = body === undefined ? undefined : isForm ? formOf(body) : JSON.stringify(body);
  if (text !== undefined && Buffer.byteLength(text) > maxBodyBytes) {
    throw new ToolFailure(`The body would be larger than ${maxBodyBytes} bytes. Send less.`);
  }
  const request = {
    method: operation.method,
    origin: url.origin,
    target,
    headers: headersOf(grant, operation, values, text !== undefined),
    body: text,
    secrets: secretsOf(grant, operation),
  };
  assertAllowedOrigin(url.origin, grant, request);
  return request;
}

/**
 * Returns the encoded values of a query parameter: none if the model omitted the argument, and
 * several if the argument is a list.
 */
function queryValues(template: string, values: Values): string[] {
  const parameter = soleName(template);
  const value = parameter === undefined ? undefined : values.get(parameter);
  if (parameter === undefined) return [fillTemplate(template, values, encodeQueryText)];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((each) => encodeQueryText(textOf(each)));
}

/** Returns an object of scalars and lists of these as `application/x-www-form-urlencoded`. */
function formOf(body: unknown): string {
  return Object.entries(isJsonObject(body) ? body : {})
    .flatMap(([name, value]) =>
      [value].flat().map((each) => `${encodeQueryText(name)}=${encodeQueryText(textOf(each))}`),
    )
    .join("&");
}

function headersOf(
  grant: HttpToolGrant,
  operation: HttpOperation,
  values: Values,
  hasBody: boolean,
): Map<string, string> {
  const type =
    operation.body_type === "form" ? "application/x-www-form-urlencoded" : "application/json";
  const headers = new Map([
    ["accept", "application/json, */*;q=0.5"],
    ["user-agent", "Beckon"],
    ...(hasBody ? [["content-type", type] as const] : []),
  ]);
  for (const [name, value] of [
    ...Object.entries(grant.headers),
    ...Object.entries(operation.headers),
  ]) {
    const parameter = typeof value === "string" ? soleName(value) : undefined;
    if (typeof value !== "string" || (parameter !== undefined && values.get(parameter) == null))
      continue;
    const text = fillTemplate(value, values, checkHeaderText).trim();
    if (text.length > maxHeaderLength)
      throw new ToolFailure(
        `The header ${name} would be longer than ${maxHeaderLength} characters. Send less.`,
      );
    headers.set(name.toLowerCase(), text);
  }
  return headers;
}

function secretsOf(grant: HttpToolGrant, operation: HttpOperation): RequestSecret[] {
  const secretsIn = (location: RequestSecret["location"], values: HttpToolGrant["headers"]) =>
    Object.entries(values).flatMap(([name, secret]) =>
      typeof secret === "string" ? [] : [{ location, name, secret }],
    );
  return [grant, operation].flatMap(({ headers, query }) => [
    ...secretsIn("header", headers),
    ...secretsIn("query", query),
  ]);
}

/**
 * Throws if the final URL, as the URL standard parses it, has another origin than its template, or
 * an origin that is not allowed. This is a second check: arguments are already encoded so that they
 * cannot change the origin.
 */
function assertAllowedOrigin(
  origin: string,
  { allowed_hosts }: HttpToolGrant,
  { target }: HttpRequest,
): void {
  const url = new URL(origin + target);
  if (url.origin !== origin || !isAllowed(url.origin, allowed_hosts))
    throw new ToolFailure("The URL would lead to a host that is not allowed.");
}
