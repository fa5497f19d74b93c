import type { ErrorCode, RunErrorCode } from "@beckon/contract";
import { z } from "zod";
import { ApiError } from "../../base/errors.ts";
import { parseQuery } from "../../base/parse.ts";

/**
 * Describes a route's request and response. The OpenAPI document and the pages at `/docs` are
 * generated from these descriptions. The route's operation parses requests with the same schemas;
 * tests compare every response with the response schema.
 */
export interface RouteDoc {
  /** The operationId, and the name of the function in a client. */
  readonly id: string;
  /** Verb and noun, for example "Duplicate agent". */
  readonly summary: string;
  /** Behaviour that the summary and the schemas do not show. Default: none. */
  readonly description?: string;
  readonly body?: z.ZodType;
  /** The body can be YAML as well as JSON. */
  readonly yaml?: true;
  /** A missing body counts as `{}`. */
  readonly bodyOptional?: true;
  /**
   * Integers outside of ±2^53 in the body's fields `payload` and `request.payload` become raw
   * numbers (`RawNumber`), so none is rounded.
   */
  readonly exactPayload?: true;
  readonly query?: z.ZodObject;
  /** The schema of the response's `data`. If a route has neither this nor `bytes`, it sends 204. */
  readonly data?: z.ZodType;
  /** Fields that only this response has in addition to those of `data`. Default: none. */
  readonly also?: z.ZodObject;
  /** The response is a page of `data`. */
  readonly list?: true;
  /** The response is one `data` per line, as JSON Lines. */
  readonly lines?: true;
  /**
   * Describes what the route sends to a client that accepts `text/event-stream`. Absent if the
   * route has no stream.
   */
  readonly stream?: string;
  /** The response is a JSON or YAML file that contains only `data`, not `{"ok": true, …}`. */
  readonly file?: true;
  /** With `format=csv` the response is a CSV file instead of `data`. */
  readonly csv?: true;
  /** The response is a file of any media type, instead of `data`. */
  readonly bytes?: true;
  /**
   * Path of the created resource, below `/api/public`, for example `/runs/:id`. `:name` stands for
   * the field `name` of `data`. If it is set, the response is 201, with the path as `Location`.
   * null: 201 without `Location`, because no route reads the resource (RFC 9110, section 15.3.2).
   */
  readonly created?: string | null;
  /** The response sets the session's cookie. */
  readonly setsCookie?: true;
  /** The route accepts an Idempotency-Key. */
  readonly once?: true;
  /** The route accepts If-Match. */
  readonly ifMatch?: true;
  /** The response has an ETag: the field `version` of `data`. */
  readonly etag?: true;
  /** Error codes in addition to those that follow from the other fields. Default: none. */
  readonly errors?: readonly (ErrorCode | RunErrorCode)[];
  /** Example of the request's body. Default: none. */
  readonly example?: unknown;
  /** Example of `data`. Absent if `data` is a resource: each resource has its own example. */
  readonly dataExample?: unknown;
}

const noParameters = z.strictObject({});

/**
 * Rejects every query parameter of a request if the route declares none. A route that declares
 * `query` passes the parameters to its operation, which parses them.
 * @throws ApiError `bad_request`
 */
export function rejectUnknownQuery(doc: RouteDoc, query: Record<string, string>): void {
  if (doc.query === undefined) parseQuery(noParameters, query);
}

/**
 * Rejects a query parameter that is given more than once, because only its first value would apply.
 * @throws ApiError `bad_request`
 */
export function rejectRepeatedQuery(queries: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, { length }] of Object.entries(queries)) {
    if (length === 1) continue;
    throw new ApiError(
      "bad_request",
      `query parameter ${name} is given ${length} times. Give it once. If it accepts several values, separate them by commas.`,
    );
  }
}

/** Returns the status of the response if the request succeeds. */
export function statusOf({ data, bytes, created }: RouteDoc): 200 | 201 | 204 {
  if (bytes) return 200;
  return data === undefined ? 204 : created === undefined ? 200 : 201;
}

/**
 * Returns every error code of a route.
 *
 * @param route.who the callers of a route about accounts, as in `AccountRoute`; undefined for a
 *   route of the management API.
 */
export function errorsOf({
  path,
  doc,
  who,
}: {
  path: string;
  doc: RouteDoc;
  who?: string;
}): (ErrorCode | RunErrorCode)[] {
  const codes: (ErrorCode | RunErrorCode)[] = [
    "bad_request",
    "unauthorized",
    "forbidden",
    "misdirected",
    "too_many_requests",
    "internal_error",
    "unavailable",
  ];
  // Every route of the management API (`who` is undefined) can respond with `not_found`: a request
  // with a session can name a workspace of which its user is not a member.
  if (path.includes(":") || who === undefined) codes.push("not_found");
  // `too_large` replaces a response that needs more memory than the server has for it. Responses of
  // routes about accounts are small and do not count.
  const isCounted = who === undefined && statusOf(doc) !== 204;
  if (doc.body !== undefined || doc.once || isCounted) codes.push("too_large");
  if (doc.body !== undefined) codes.push("unsupported_type");
  // A repeated request gets `conflict` while the response stored for its Idempotency-Key is being
  // deleted, and `secret_unreadable` if that response was encrypted with a lost master key.
  if (doc.once) codes.push("idempotency_mismatch", "conflict", "secret_unreadable");
  if (doc.ifMatch) codes.push("stale");
  return [...new Set([...codes, ...(doc.errors ?? [])])];
}
