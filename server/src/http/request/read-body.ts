import type { IncomingMessage } from "node:http";
import { maxInputBytes } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError, type Result } from "../../base/errors.ts";
import {
  encodedBody,
  encodingOf,
  heldPerByte,
  textOf,
  tooLarge,
  tooLargeForMemory,
  tooManyBodies,
} from "../../receiving/index.ts";

/**
 * The raw body, or the error for which it is rejected. After the response to a rejected body,
 * `@hono/node-server` reads and discards the rest of the body for at most half a second. Some
 * clients read the response only after they have sent everything; if the connection were closed at
 * once, they would lose the response.
 */
export type RawBody = Extract<Result<Buffer>, { readonly ok: true }> | RejectedBody;

interface RejectedBody {
  readonly ok: false;
  readonly error: ApiError;
  /**
   * Size of the body in bytes, as the header `Content-Length` states it; without this header, the
   * number of bytes that were read.
   */
  readonly size: number;
}

/**
 * This many bytes of each body do not count against the memory budget, because each connection uses
 * as much memory anyway.
 */
const smallBodyBytes = 16 * 1024;

/**
 * Number of chunks after which they are joined. A chunk of a single byte takes 200 bytes of memory.
 */
const maxChunks = 1_000;

/** What `readBody` needs of a hold. */
export type BodyHold = Pick<ByteHold, "grow" | "maxBytes">;

/**
 * Reads the body of a request. Resolves with an error if the body is too large or its transfer
 * coding is not supported. Rejects if the client disconnects before the body is complete. A
 * complete body is read even if the client has already disconnected.
 * @param hold returns the hold that counts `heldPerByte` for each byte; called only for a large
 *   body. The caller releases the hold when it no longer keeps anything of the body
 * @param maxBytes default 1 MiB
 * @throws ApiError `unavailable`, as rejection, if the process cannot hold another body
 */
export function readBody(
  incoming: IncomingMessage,
  hold: () => BodyHold,
  maxBytes = maxInputBytes,
): Promise<RawBody> {
  if (incoming.destroyed && !incoming.complete) return Promise.reject(truncated());
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (declared > maxBytes)
    return Promise.resolve({ ok: false, error: tooLarge(maxBytes), size: declared });
  const coding = incoming.headers["transfer-encoding"] ?? "chunked";
  if (coding.toLowerCase() !== "chunked")
    return Promise.resolve({ ok: false, error: unsupportedCoding(coding), size: declared });
  return new Promise((resolve, reject) => {
    const joined: Buffer[] = [];
    let chunks: Buffer[] = [];
    let size = 0;
    const append = (chunk: Buffer) => {
      size += chunk.length;
      const fits = size <= maxBytes;
      if (fits && (size <= smallBodyBytes || hold().grow(heldPerByte * chunk.length))) {
        if (chunks.push(chunk) < maxChunks) return;
        joined.push(Buffer.concat(chunks));
        chunks = [];
        return;
      }
      incoming.off("data", append).pause();
      joined.length = 0;
      chunks = [];
      const bytes = Math.max(declared, size);
      if (!fits) resolve({ ok: false, error: tooLarge(maxBytes), size: bytes });
      else if (isTooLargeFor(hold(), bytes))
        resolve({ ok: false, error: tooLargeForMemory(), size: bytes });
      else reject(tooManyBodies());
    };
    const finish = () => {
      const all = [...joined, ...chunks];
      resolve({ ok: true, value: all.length === 1 && all[0] ? all[0] : Buffer.concat(all) });
    };
    if (incoming.destroyed) {
      // Node emits no more events of a destroyed request, but `read` returns what it has buffered.
      for (let chunk = incoming.read(); chunk !== null; chunk = incoming.read()) append(chunk);
      finish();
      return;
    }
    // The events `error` and `close` can also follow a body that was read. No error is created
    // then, because capturing its stack would take time.
    const onClose = () => (incoming.readableEnded ? undefined : reject(truncated()));
    incoming.on("data", append);
    incoming.on("end", finish);
    incoming.on("error", onClose);
    incoming.on("close", onClose);
  });
}

/**
 * Reads a body of at most 16 KiB, which does not count against the memory budget. It is for
 * requests that need no credential: their senders could use up the budget with large bodies that
 * stall.
 */
export async function readSmallBody(incoming: IncomingMessage): Promise<RawBody> {
  const body = await readBody(incoming, neverHeld, smallBodyBytes);
  if (body.ok || body.error.code !== "too_large") return body;
  // `tooLarge` advises to send a link, which a route about accounts cannot use.
  const limit = smallBodyBytes.toLocaleString("en");
  const error = new ApiError("too_large", `The body is larger than ${limit} bytes. Send less.`);
  return { ...body, error };
}

function neverHeld(): BodyHold {
  throw new Error("a small body counted against the memory budget");
}

/**
 * Returns the text of a body. No route decodes a Content-Encoding, except for triggers that are set
 * to accept it (`receiving`).
 * @throws ApiError `unsupported_type` if the body has a Content-Encoding; the errors of `textOf`
 */
export function bodyText(incoming: IncomingMessage, bytes: Buffer): string {
  if (encodingOf(incoming.headers["content-encoding"]) !== undefined) throw encodedBody();
  return textOf(bytes);
}

/**
 * Resolves to whether the whole body has arrived together with the headers. Must be called before
 * the first query about the credential. If it resolves to false, the credential can be revoked
 * while the body arrives, and must be checked again afterwards.
 */
export async function arrivesWithHeaders(incoming: IncomingMessage): Promise<boolean> {
  // Node reports the headers before it parses the body that is in the same packet.
  await undefined;
  return incoming.complete;
}

/**
 * Returns whether a body of this size never fits, even if nothing else is in memory. A body within
 * the default limit counts as one that fits, because only a very small heap cannot hold it.
 */
function isTooLargeFor(hold: BodyHold, bytes: number): boolean {
  return bytes > maxInputBytes && heldPerByte * bytes > hold.maxBytes;
}

function truncated(): ApiError {
  return new ApiError("bad_request", "The request ended before its body was complete.");
}

function unsupportedCoding(coding: string): ApiError {
  return new ApiError(
    "unsupported_type",
    `The body's Transfer-Encoding is ${coding}. Send it chunked, or with a Content-Length.`,
  );
}
