import type { JsonSchema } from "./json-schema.ts";

const text = { schema: { type: "string" } };

/** Response headers, as components of the OpenAPI document. */
export const responseHeaders = {
  RequestId: {
    description:
      "Id of the request. Quote it to the operator, who finds the request's errors by it in the log.",
    ...text,
  },
  RetryAfter: {
    description: "Seconds after which to try again.",
    schema: { type: "integer", format: "int32" },
  },
  RateLimitPolicy: {
    description: 'A limit, for example `"failed-authentications";q=300;w=60`.',
    ...text,
  },
  RateLimit: {
    description:
      'What remains of it and for how many seconds, for example `"failed-authentications";r=0;t=42`.',
    ...text,
  },
  WwwAuthenticate: {
    description: "Only of triggers with the verification `basic`: the challenge of RFC 7617.",
    ...text,
  },
  Location: { description: "Path of the resource.", ...text },
  ETag: { description: "Version of the resource, for `If-Match`.", ...text },
  IdempotencyReplayed: {
    description: "`true`: the response to an earlier request with the same Idempotency-Key.",
    ...text,
  },
  ContentDisposition: { description: "`attachment` with the name of the file.", ...text },
  PreferenceApplied: { description: "The part of `Prefer` that was applied.", ...text },
  IgnoredFields: {
    description:
      "Names of the body's fields that were ignored, percent-encoded and separated by commas: at most 10 names and 512 bytes.",
    ...text,
  },
  SetCookie: { description: "The session's cookie.", ...text },
} as const;

const names: { readonly [Name in keyof typeof responseHeaders]: string } = {
  RequestId: "beckon-request-id",
  RetryAfter: "Retry-After",
  RateLimitPolicy: "RateLimit-Policy",
  RateLimit: "RateLimit",
  WwwAuthenticate: "WWW-Authenticate",
  Location: "Location",
  ETag: "ETag",
  IdempotencyReplayed: "Idempotency-Replayed",
  ContentDisposition: "Content-Disposition",
  PreferenceApplied: "Preference-Applied",
  IgnoredFields: "beckon-ignored-fields",
  SetCookie: "Set-Cookie",
};

/**
 * Returns the `headers` of a response: the given ones, and the request id, which every response
 * has.
 */
export function headersOf(...which: readonly (keyof typeof responseHeaders)[]): JsonSchema {
  return Object.fromEntries(
    (["RequestId", ...which] as const).map((name) => [
      names[name],
      { $ref: `#/components/headers/${name}` },
    ]),
  );
}
