import { pipeline, Readable } from "node:stream";
import { createUnzip } from "node:zlib";

/**
 * Content codings that can be decoded (RFC 9110, section 8.4.1). Others are not, because their
 * decoders take up to 16 MiB of memory each.
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
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return { chunks: body };
  if (!decodable.has(coding))
    return { unread: `The body is compressed (${coding}) and is not shown.` };
  return { chunks: inflate(body) };
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
