import { createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { hasZlibHeader } from "../../base/compression/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type HoldBytes, tooLarge, tooManyBodies } from "./body-limits.ts";

/** Maximum size of one piece of inflated data, in bytes. The limits are checked for each piece. */
const chunkBytes = 64 * 1024;

/**
 * Undoes a Content-Encoding in a thread of libuv's pool, piece by piece. Stops as soon as the
 * result is above `maxBytes`, so that a small body cannot fill the memory.
 * @throws ApiError `too_large`, `bad_request` if the body is damaged or truncated, `unavailable` if
 *   the process cannot hold the result.
 */
export async function inflate(
  bytes: Buffer,
  encoding: "gzip" | "deflate",
  { maxBytes, hold }: { readonly maxBytes: number; readonly hold: HoldBytes },
): Promise<Buffer> {
  const options = { chunkSize: chunkBytes };
  const stream =
    encoding === "gzip"
      ? createGunzip(options)
      : hasZlibHeader(bytes)
        ? createInflate(options)
        : createInflateRaw(options);
  const chunks: Buffer[] = [];
  let size = 0;
  stream.end(bytes);
  try {
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes, "after it is inflated");
      if (!hold(chunk.length)) throw tooManyBodies();
      chunks.push(chunk);
    }
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown;
    throw new ApiError(
      "bad_request",
      `The body is not complete, valid ${encoding}, which its Content-Encoding says. Send it again.`,
    );
  } finally {
    stream.destroy();
  }
  return Buffer.concat(chunks, size);
}
