import { createHash } from "node:crypto";
import type { IdempotencyBinding } from "../../base/context.ts";
import { ApiError, type Result } from "../../base/errors.ts";
import type { RunCallback, RunLabels } from "../../runs/index.ts";

/**
 * Returns the key in the header, which can be in double quotes; undefined if there is no header. An
 * invalid key is an error, because ignoring the key could execute a request twice.
 */
export function idempotencyKey(header: string | undefined): Result<string> | undefined {
  if (header === undefined) return undefined;
  const trimmed = header.trim();
  const quoted = /^"(.*)"$/.exec(trimmed)?.[1];
  const key = quoted ?? trimmed;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return { ok: true, value: key };
  const error = new ApiError(
    "bad_request",
    "Idempotency-Key must be 1 to 255 printable ASCII characters, bare or in double quotes.",
  );
  return { ok: false, error };
}

/**
 * Returns the key with the SHA-256 hash of the body, to recognize a repeat of the request.
 * Returns undefined if there is no key, and the error of an invalid key or body.
 * `labels` and `callback` are hashed together with the body: a request with the same key and other
 * labels or another callback is rejected as a mismatch, because the first request's run does not
 * have these. Each is undefined if the request has none.
 */
export function bindKey(
  key: Result<string> | undefined,
  body: Result<Buffer>,
  {
    labels,
    callback,
  }: {
    readonly labels?: RunLabels | undefined;
    readonly callback?: RunCallback | undefined;
  } = {},
): Result<IdempotencyBinding> | undefined {
  if (key === undefined || !key.ok) return key;
  if (!body.ok) return body;
  const hash = createHash("sha256").update(body.value);
  // The parts are separated by a NUL. JSON and text bodies contain no NUL, so such a body never has
  // the same hash as a shorter body with labels. A binary body that ends like labels is too
  // unlikely to matter.
  if (labels !== undefined) hash.update(`\0${JSON.stringify([labels.externalId, labels.tags])}`);
  if (callback !== undefined) hash.update(`\0${callback.url}`);
  return { ok: true, value: { key: key.value, bodyHash: hash.digest() } };
}
