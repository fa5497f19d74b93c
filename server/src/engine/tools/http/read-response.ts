import type { ByteHold } from "../../../base/byte-budget.ts";
import { memoryIsUsedUp } from "../../model-call/index.ts";
import { ToolFailure } from "../../tool.ts";
import type { Scrubber } from "./scrub-secrets.ts";

/** What the model is shown of an answer. */
export interface HttpResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as its value, other text as text; absent without a body. */
  readonly body?: unknown;
  readonly note?: string;
}

/** Headers that say something to a model; the others would only take its room. */
const shownHeaders = ["content-type", "location", "retry-after", "link", "etag", "last-modified"];

/**
 * Bytes of memory for each byte of a body that is read: its pieces, the joined bytes, its text and
 * the value of that.
 */
const heldPerByte = 6;

interface Reading {
  /** Bytes of the body that are shown. */
  readonly maxBytes: number;
  readonly scrubber: Scrubber;
  /** Counts the body while it is read. */
  readonly hold?: ByteHold | undefined;
}

/**
 * Reads the answer up to `maxBytes` of its body, and leaves the rest. Rejects with what breaks the
 * body off.
 * @throws {ToolFailure} the run's workspace holds too much already.
 */
export async function readResponse(
  response: Response,
  { maxBytes, scrubber, hold }: Reading,
): Promise<HttpResult> {
  let held = 0;
  const count = (bytes: number) => {
    if (hold?.grow(heldPerByte * bytes) === false)
      throw new ToolFailure(`The answer was not read: ${memoryIsUsedUp(hold.maxBytes)}`);
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

  // Beyond the limit as many bytes as a secret may take, in UTF-16 too, so that none is cut in two and shown by half.
  const bytes = await firstBytes(response, maxBytes + 2 * scrubber.longest, count);
  const isCut = bytes.length > maxBytes;
  const encoding = encodingOf(response.headers.get("content-type"));
  const text = decoded(bytes, encoding, { fatal: true, isCut });
  const notes = [
    ...(redirected ? ["Redirects are not followed."] : []),
    ...(isCut
      ? [`The body is cut: it has more than ${maxBytes} bytes, these are the first ones.`]
      : []),
    ...(text === undefined ? ["The body is not text and is not shown."] : []),
  ];
  const end = isCut
    ? decoded(bytes.subarray(0, maxBytes), encoding, { fatal: false, isCut })?.length
    : undefined;
  const body = text === undefined || text === "" ? undefined : shownBody(text, end, scrubber);
  return {
    ...shown,
    ...(body === undefined ? {} : { body }),
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  };
}

/** JSON that was cut is none, and is shown as the text it is. */
function shownBody(text: string, end: number | undefined, scrubber: Scrubber): unknown {
  if (end !== undefined) return scrubber.beginning(text, end);
  try {
    return scrubber.json(JSON.parse(text));
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
    // Leaving the loop cancels the body, which ends the exchange.
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1);
}

/** UTF-8 unless the type names another encoding that there is. */
function encodingOf(contentType: string | null): string {
  const label = /;\s*charset="?([\w-]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return "utf-8";
  }
}

/** The text of bytes; undefined when they are none, and `fatal`. */
function decoded(
  bytes: Uint8Array,
  encoding: string,
  { fatal, isCut }: { fatal: boolean; isCut: boolean },
): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal }).decode(bytes, { stream: isCut });
    return fatal && text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}
