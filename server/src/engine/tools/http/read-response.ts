import type { ByteHold } from "../../../base/byte-budget.ts";
import { parseExactly } from "../../../base/json/index.ts";
import type { Scrubber } from "../../../base/secrets/index.ts";
import { memoryIsUsedUp } from "../../memory.ts";
import { ToolFailure } from "../../tool.ts";
import { decodeBody, isDamaged } from "./decode-body.ts";

/** A response as the model sees it. */
export interface HttpResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body as a JSON value or as text. Absent if the response has no body, or if the body is not
   * text.
   */
  readonly body?: unknown;
  readonly note?: string;
}

/**
 * The only headers that the model sees. Other headers would only fill the model's context window.
 */
const shownHeaders = ["content-type", "location", "retry-after", "link", "etag", "last-modified"];

/**
 * Peak bytes of memory for each byte of a body. At the peak, the body is in memory as chunks,
 * joined bytes, text and parsed value at the same time.
 */
const heldPerByte = 6;

interface ReadOptions {
  /** Maximum bytes of the body that the model sees. */
  readonly maxBytes: number;
  readonly scrubber: Scrubber;
  /** Counts the memory of the body while it is read; undefined: memory is not counted. */
  readonly memory?: ByteHold | undefined;
}

/**
 * Reads a response up to `maxBytes` of its body and cancels the rest. Rejects if the connection
 * ends before the body is complete.
 *
 * @throws {ToolFailure} the workspace or the process has no memory left.
 */
export async function readResponse(
  response: Response,
  { maxBytes, scrubber, memory }: ReadOptions,
): Promise<HttpResult> {
  let held = 0;
  const count = (bytes: number) => {
    if (memory?.grow(heldPerByte * bytes) === false)
      throw new ToolFailure(
        `The response, with status ${response.status}, was not read: ${memoryIsUsedUp(memory.maxBytes)}`,
      );
    held += heldPerByte * bytes;
  };
  try {
    return await read(response, maxBytes, scrubber, count);
  } finally {
    memory?.shrink(held);
  }
}

async function read(
  response: Response,
  maxBytes: number,
  scrubber: Scrubber,
  count: (bytes: number) => void,
): Promise<HttpResult> {
  const headers = shownHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, scrubber.text(value).slice(0, 1_000)]];
  });
  const shown = {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
  };
  const redirected =
    response.status >= 300 && response.status < 400 && response.headers.has("location");

  const redirectNotes = redirected ? ["Redirects are not followed."] : [];
  const decoding = decodeBody(response);
  if ("unread" in decoding) {
    await response.body?.cancel();
    return { ...shown, note: [...redirectNotes, decoding.unread].join(" ") };
  }
  // Reads further than the limit by the maximum length of a secret. So a secret that crosses the
  // limit is read completely, and is recognised and removed. The length is doubled because the body
  // may be UTF-16.
  const bytes = await firstBytes(
    decoding.chunks,
    maxBytes + 2 * scrubber.maxSecretBytes,
    count,
  ).catch((thrown: unknown) => {
    if (isDamaged(thrown)) return undefined;
    throw thrown;
  });
  if (bytes === undefined) {
    const note = "The compressed body is damaged and is not shown.";
    return { ...shown, note: [...redirectNotes, note].join(" ") };
  }
  const isTruncated = bytes.length > maxBytes;
  const type = response.headers.get("content-type") ?? "";
  const encoding = encodingOf(type, bytes);
  const strict = decoded(bytes, encoding, { fatal: true, isTruncated });
  const text =
    strict ?? (isText(type) ? decoded(bytes, encoding, { fatal: false, isTruncated }) : undefined);
  const notes = [
    ...redirectNotes,
    ...(isTruncated
      ? [
          `The body was truncated: it has more than ${maxBytes} bytes, and only the first ones are shown.`,
        ]
      : []),
    ...(text === undefined ? ["The body is not text and is not shown."] : []),
    ...(text !== undefined && strict === undefined
      ? [`Some bytes of the body are not valid ${encoding} and are shown as \uFFFD.`]
      : []),
  ];
  const end = isTruncated
    ? decoded(bytes.subarray(0, maxBytes), encoding, { fatal: false, isTruncated })?.length
    : undefined;
  const body = text === undefined || text === "" ? undefined : shownBody(text, end, scrubber);
  return {
    ...shown,
    ...(body === undefined ? {} : { body }),
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  };
}

/**
 * Returns the body as a JSON value if it is valid JSON, otherwise as text. A truncated body is
 * always text, because truncated JSON is invalid. Integers outside of ±2^53 become texts: as
 * numbers they would be rounded, here or where the result is read.
 *
 * @param end the length of the truncated text; undefined if the body is complete.
 */
function shownBody(text: string, end: number | undefined, scrubber: Scrubber): unknown {
  if (end !== undefined) return scrubber.prefix(text, end);
  try {
    return scrubber.json(parseExactly(text, (digits) => digits));
  } catch {
    return scrubber.text(text);
  }
}

async function firstBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  count: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    count(chunk.length);
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the body, which closes the connection.
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1);
}

/** Matches content types whose body is text. */
const textTypes =
  /^\s*(?:text\/|application\/(?:[\w.+-]*[+.-])?(?:json|xml|yaml|javascript|x-ndjson)\b)/i;

function isText(contentType: string): boolean {
  return textTypes.test(contentType);
}

/**
 * Returns the encoding of a body: that of its byte order mark, otherwise the charset of its content
 * type if it is supported, otherwise UTF-8 (https://encoding.spec.whatwg.org/#decode).
 */
function encodingOf(contentType: string, [first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const label = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return "utf-8";
  }
}

/**
 * Decodes bytes. Returns undefined if the text contains NUL. If `fatal` is true, also returns
 * undefined for bytes that are not valid in the encoding; otherwise they become U+FFFD.
 */
function decoded(
  bytes: Uint8Array,
  encoding: string,
  { fatal, isTruncated }: { fatal: boolean; isTruncated: boolean },
): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal }).decode(bytes, { stream: isTruncated });
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}
