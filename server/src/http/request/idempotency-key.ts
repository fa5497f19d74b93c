import { createHash } from "node:crypto";
import type { IdempotencyBinding } from "../../base/context.ts";
import { ApiError, type Result } from "../../base/errors.ts";

/**
 * Returns the key in the header, bare or quoted; undefined without a header. An invalid key is an
 * error: ignoring it could execute a request twice.
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

/** Binds a key to the hash of the raw body. Returns undefined without a key. */
export function bindKey(
  key: Result<string> | undefined,
  body: Result<Buffer>,
): Result<IdempotencyBinding> | undefined {
  if (key === undefined || !key.ok) return key;
  if (!body.ok) return body;
  return {
    ok: true,
    value: { key: key.value, bodyHash: createHash("sha256").update(body.value).digest() },
  };
}
