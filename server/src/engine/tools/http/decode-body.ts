import { pipeline, Readable } from "node:stream";
import { createUnzip } from "node:zlib";
import { codingsOf } from "../../../base/egress/index.ts";

/**
 * Content codings that can be decoded (RFC 9110, section 8.4.1). Others are not: a decoder of `br`
 * needs a window of up to 16 MiB (RFC 7932, section 9.1).
 */
const decodable = new Set(["gzip", "x-gzip", "deflate"]);

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
  const [coding, ...more] = codingsOf(headers.get("content-encoding"));
  if (coding === undefined) return { chunks: body };
  if (more.length === 0 && decodable.has(coding)) return { chunks: inflate(body) };
  const codings = [coding, ...more].join(", ");
  return { unread: `The body is compressed (${codings}) and is not shown.` };
}

async function* inflate(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isEmpty = true;
  async function* source() {
    for await (const chunk of body) {
      isEmpty = false;
      yield chunk;
    }
  }
  const inflated = createUnzip();
  // An error of the source, or a reader that stops, closes the whole pipeline. The reader gets the
  // error from the stream that it reads.
  pipeline(source, inflated, () => undefined);
  try {
    yield* inflated;
  } catch (thrown) {
    // No compressed data is empty, but some servers send the header without a body.
    if (!isEmpty) throw thrown;
  }
}

/** Returns whether `thrown` says that a compressed body is damaged or truncated. */
export function isDamaged(thrown: unknown): boolean {
  return (
    thrown instanceof Error && "code" in thrown && /^Z_[A-Z]+_ERROR$/.test(String(thrown.code))
  );
}
