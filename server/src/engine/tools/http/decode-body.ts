import { pipeline, Readable } from "node:stream";
import { createInflateRaw, createUnzip } from "node:zlib";
import { hasZlibHeader } from "../../../base/compression/index.ts";
import { codingsOf } from "../../../base/egress/index.ts";

/**
 * Content codings that can be decoded (RFC 9110, section 8.4.1). Others are not: a decoder of `br`
 * needs a window of up to 16 MiB (RFC 7932, section 9.1).
 */
const decodable = new Set(["gzip", "x-gzip", "deflate"]);

/**
 * All content codings that compress: those of the registry of IANA. Some servers send other values,
 * such as `utf-8`, `none` or `aws-chunked`, with a body that is not encoded.
 */
const compressing = new Set([
  ...decodable,
  ...["br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"],
]);

/** The body of a response, without its content coding. */
export type DecodedBody =
  | { readonly chunks: AsyncIterable<Uint8Array> }
  /** Reason why the body is not read. */
  | { readonly unread: string };

/**
 * Returns the body of a response as it is without its content coding. Some servers compress
 * although the request does not accept it, for example if they store the compressed file. Nothing
 * is inflated before it is read, so that a small body cannot fill the memory.
 */
export function decodeBody({ headers, body }: Response): DecodedBody {
  if (body === null) return { chunks: Readable.from([]) };
  const [coding, ...more] = codingsOf(headers.get("content-encoding")).filter((each) =>
    compressing.has(each),
  );
  if (coding === undefined) return { chunks: body };
  if (more.length === 0 && decodable.has(coding)) return { chunks: inflate(body, coding) };
  const codings = [coding, ...more].join(", ");
  return { unread: `The body is compressed (${codings}) and is not shown.` };
}

async function* inflate(
  body: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const start = await readStart(chunks);
  // No compressed data is empty, but some servers send the header without a body.
  if (start.length === 0) return;
  async function* source() {
    try {
      yield start;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      await chunks.return?.();
    }
  }
  const inflated = coding === "deflate" && isRawDeflate(start) ? createInflateRaw() : createUnzip();
  // An error of the source, or a reader that stops, closes the whole pipeline. The reader gets the
  // error from the stream that it reads.
  pipeline(source, inflated, () => undefined);
  yield* inflated;
}

/** Returns the first chunks as one, with at least two bytes if there are so many. */
async function readStart(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let start = new Uint8Array();
  while (start.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

/** Returns whether the data has neither the header of zlib nor that of gzip (RFC 1952). */
function isRawDeflate(start: Uint8Array): boolean {
  return !hasZlibHeader(start) && !(start[0] === 0x1f && start[1] === 0x8b);
}

/** Returns whether `thrown` says that a compressed body is damaged or truncated. */
export function isDamaged(thrown: unknown): boolean {
  return (
    thrown instanceof Error && "code" in thrown && /^Z_[A-Z]+_ERROR$/.test(String(thrown.code))
  );
}
