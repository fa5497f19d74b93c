import type { ByteHold } from "../../../base/byte-budget.ts";
import { parseExactly } from "../../../base/json/index.ts";
import type { Scrubber } from "../../../base/secrets/index.ts";
import { memoryIsUsedUp } from "../../model-call/index.ts";
import { ToolFailure } from "../../tool.ts";

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
  readonly hold?: ByteHold | undefined;
}

/**
 * Reads a response up to `maxBytes` of its body and cancels the rest. Rejects if the connection
 * ends before the body is complete.
 *
 * @throws {ToolFailure} the workspace or the process has no memory left.
 */
export async function readResponse(
  response: Response,
  { maxBytes, scrubber, hold }: ReadOptions,
): Promise<HttpResult> {
  let held = 0;
  const count = (bytes: number) => {
    if (hold?.grow(heldPerByte * bytes) === false)
      throw new ToolFailure(
        `The response, with status ${response.status}, was not read: ${memoryIsUsedUp(hold.maxBytes)}`,
      );
    held += heldPerByte * bytes;
  };
  try {
    return await read(response, maxBytes, scrubber, count);
  } finally {
    hold?.shrink(held);
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

  // Reads further than the limit by the maximum length of a secret. So a secret that crosses the
  // limit is read completely, and is recognised and removed. The length is doubled because the body
  // may be UTF-16.
  const bytes = await firstBytes(response, maxBytes + 2 * scrubber.maxSecretBytes, count);
  const isTruncated = bytes.length > maxBytes;
  const encoding = encodingOf(response.headers.get("content-type"));
  const text = decoded(bytes, encoding, { fatal: true, isTruncated });
  const notes = [
    ...(redirected ? ["Redirects are not followed."] : []),
    ...(isTruncated
      ? [
          `The body was truncated: it has more than ${maxBytes} bytes, and only the first ones are shown.`,
        ]
      : []),
    ...(text === undefined ? ["The body is not text and is not shown."] : []),
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
  response: Response,
  maxBytes: number,
  count: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    count(chunk.length);
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the body, which closes the connection.
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1);
}

/** Returns the charset of the content type if it is supported, otherwise UTF-8. */
function encodingOf(contentType: string | null): string {
  const label = /;\s*charset="?([\w-]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return "utf-8";
  }
}

/** Decodes bytes. If `fatal` is true, returns undefined for bytes that are not text. */
function decoded(
  bytes: Uint8Array,
  encoding: string,
  { fatal, isTruncated }: { fatal: boolean; isTruncated: boolean },
): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal }).decode(bytes, { stream: isTruncated });
    return fatal && text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}
