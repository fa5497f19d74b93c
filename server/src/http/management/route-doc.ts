import type { ErrorCode } from "@beckon/contract";
import type { z } from "zod";

/**
 * What a route takes and gives, for its readers: the OpenAPI document and the page at `/docs` are made of this. The schemas of what it
 * takes are those that its verb parses with; what it gives is compared with every answer that a test gets.
 */
export interface RouteDoc {
  /** The name of its function in a client. */
  readonly id: string;
  /** What it does, as a command of a few words. */
  readonly summary: string;
  /** What one might not expect. */
  readonly description?: string;
  readonly body?: z.ZodType;
  /** The body may be YAML as well as JSON. */
  readonly yaml?: true;
  /** No body is taken as one without members. */
  readonly bodyOptional?: true;
  readonly query?: z.ZodObject;
  /** Of the answer; without it: 204. */
  readonly data?: z.ZodType;
  /** Members beside those of `data`, in this answer only. */
  readonly also?: z.ZodObject;
  /** The answer is a page of `data`. */
  readonly list?: true;
  /** The answer is `data` after `data`, as JSON Lines. */
  readonly lines?: true;
  /** What a reader of `text/event-stream` gets in place of it. */
  readonly stream?: string;
  /** The answer is `data` itself, as a file in JSON or, if it was asked for, in YAML. */
  readonly file?: true;
  /** The answer is 201, with a Location. */
  readonly created?: true;
  /** It takes an Idempotency-Key. */
  readonly once?: true;
  /** It takes If-Match. */
  readonly ifMatch?: true;
  /** Codes beside those that follow from the rest. */
  readonly errors?: readonly ErrorCode[];
  /** Of the body. */
  readonly example?: unknown;
}

/** Every code that a route may refuse with. `who`: of a route about accounts. */
export function errorsOf({
  method,
  path,
  doc,
  who,
}: {
  method: string;
  path: string;
  doc: RouteDoc;
  who?: string;
}): ErrorCode[] {
  const codes: ErrorCode[] = [
    "unauthorized",
    "forbidden",
    "misdirected",
    "too_many_requests",
    "internal_error",
    "unavailable",
  ];
  // A session may name a workspace that is not its member's, or none although there are several.
  if (path.includes(":") || who === undefined) codes.push("not_found");
  if (doc.query !== undefined || method !== "GET" || who === undefined) codes.push("bad_request");
  if (doc.body !== undefined || doc.once) codes.push("too_large");
  if (doc.body !== undefined) codes.push("unsupported_type");
  // A stored answer may be under way to its end, or sealed with a key that is lost.
  if (doc.once) codes.push("idempotency_mismatch", "conflict", "secret_unreadable");
  if (doc.ifMatch) codes.push("stale");
  return [...new Set([...codes, ...(doc.errors ?? [])])];
}
