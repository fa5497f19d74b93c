import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError, type Result } from "../../base/errors.ts";

/** Bytes of a request body, at most: 1 MiB. */
const maxBodyBytes = 1_048_576;

/**
 * The raw bytes, or why they were not read. The rest of a rejected body is discarded after the response, for half a
 * second at most. Closing the connection at once would lose the response for clients that read only after sending all.
 */
export type RawBody = Result<Buffer>;

/** Bytes of a body that are not counted: its connection takes as much. */
const smallBodyBytes = 16 * 1024;

/**
 * Bytes of memory for each byte of a body: its pieces, the joined bytes, the text, the parsed JSON
 * and what is made of that.
 */
const heldPerByte = 6;

/**
 * Reads the body up to the limit. Rejects if the caller goes away, or has gone, before it is
 * complete.
 *
 * @param hold returns the hold that counts what is read. Called only for a large body; the caller
 *   releases the hold when nothing of the body is held any more.
 * @throws ApiError `unavailable`, as rejection, if the process holds as many bodies as it may.
 */
export function readBody(incoming: IncomingMessage, hold: () => ByteHold): Promise<RawBody> {
  if (incoming.destroyed && !incoming.complete) return Promise.reject(cutShort());
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (declared > maxBodyBytes) return Promise.resolve({ ok: false, error: tooLarge() });
  const coding = incoming.headers["transfer-encoding"] ?? "chunked";
  if (coding.toLowerCase() !== "chunked")
    return Promise.resolve({ ok: false, error: unreadable(coding) });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      const fits = size <= maxBodyBytes;
      if (fits && (size <= smallBodyBytes || hold().grow(heldPerByte * chunk.length))) {
        chunks.push(chunk);
        return;
      }
      incoming.off("data", take).pause();
      chunks.length = 0;
      if (fits) reject(tooManyBodies());
      else resolve({ ok: false, error: tooLarge() });
    };
    // Both are also heard after a whole body; the error, with its stack, would then be made for nothing.
    const breakOff = () => (incoming.complete ? undefined : reject(cutShort()));
    incoming.on("data", take);
    incoming.on("end", () =>
      resolve({
        ok: true,
        value: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks),
      }),
    );
    incoming.on("error", breakOff);
    incoming.on("close", breakOff);
  });
}

/** The body as text, unchanged. @throws ApiError `bad_request` for what is not UTF-8, and for NUL, which cannot be stored. */
export function textOf(bytes: Buffer): string {
  if (bytes.includes(0))
    throw new ApiError(
      "bad_request",
      "The body contains a NUL byte (0x00), which text cannot hold. Send text without it.",
    );
  if (!isUtf8(bytes))
    throw new ApiError("bad_request", "The body is not valid UTF-8. Send text encoded as UTF-8.");
  return bytes.toString();
}

/**
 * The value that JSON text stands for. A byte order mark before it is skipped, as RFC 8259 allows: editors put one there unasked.
 * @throws ApiError `bad_request` that says where the text stops being JSON.
 */
export function jsonOf(text: string): unknown {
  if (text === "") throw new ApiError("bad_request", "The body is empty. Send JSON.");
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (thrown) {
    throw new ApiError("bad_request", `The body is not valid JSON${faultIn(thrown)}.`);
  }
}

/** Where the text goes wrong, as far as the parser says; never its words, which repeat the body. */
function faultIn(thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : "";
  if (said.includes("end of JSON input")) return ": it breaks off before its end";
  const where = /at position \d+( \(line \d+ column \d+\))?/.exec(said)?.[0];
  return where === undefined ? "" : `: it goes wrong ${where}`;
}

function tooManyBodies(): ApiError {
  return new ApiError(
    "unavailable",
    "This server is reading as many large request bodies as it can hold. Send the request again shortly.",
    {
      retryAfter: 1,
    },
  );
}

function cutShort(): ApiError {
  return new ApiError("bad_request", "The request ended before its body was complete.");
}

function unreadable(coding: string): ApiError {
  return new ApiError(
    "unsupported_type",
    `The body's Transfer-Encoding is ${coding}. Send it chunked, or with a Content-Length.`,
  );
}

function tooLarge(): ApiError {
  return new ApiError(
    "too_large",
    `The body is larger than ${maxBodyBytes.toLocaleString("en")} bytes (1 MiB). Send less, or a link to it.`,
  );
}
