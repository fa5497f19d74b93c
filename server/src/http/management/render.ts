import type { BatchedValues } from "../../base/read-in-batches.ts";
import { type RouteDoc, statusOf } from "./route-doc.ts";

/**
 * What a handler returns, for example the `Page` or the `Once` of an operation. `renderJson` and
 * `renderStreamed` make the HTTP response from it.
 */
export type RouteResult = JsonResult | StreamedResult;

/** A JSON response. */
export interface JsonResult {
  /** Without it, the response is 204. */
  readonly data?: unknown;
  /** The cursor of the next page of a list; null for the last page, undefined if it is no list. */
  readonly next?: string | null;
  /** Whether this is the response to an earlier request with the same Idempotency-Key. */
  readonly replayed?: boolean;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  // A result of one kind has no fields of the others.
  readonly lines?: never;
  readonly file?: never;
}

/** A response that is sent as fast as the client reads it. */
export type StreamedResult = LinesResult | FileResult;

/** Values that are sent as JSON Lines. */
interface LinesResult {
  readonly lines: BatchedValues<unknown>;
  readonly data?: never;
  readonly file?: never;
}

interface FileResult {
  readonly file: {
    readonly name: string;
    readonly type: string;
    readonly content: AsyncIterable<string | Uint8Array>;
    /** Size of the content in bytes; undefined if it is not known yet. */
    readonly bytes?: number;
    /**
     * Returns the bytes of the content that are in memory now. They count against the memory budget
     * for responses. Called before the first part of the content is read, and after each part.
     */
    readonly heldBytes: () => number;
  };
  readonly data?: never;
  readonly lines?: never;
}

/** The result of a handler. If the handler returns nothing, the response is 204. */
export type Handled<Result extends RouteResult> = Promise<Result> | Promise<void>;

/** Returns what a handler returns; an empty result if it returns nothing. */
export async function resultOf<Result extends RouteResult>(
  handled: Handled<Result>,
): Promise<Result | JsonResult> {
  return (await handled) ?? {};
}

interface JsonRendering {
  /** The path of the public URL, without a trailing slash: see `basePathOf`. */
  readonly basePath: string;
  /**
   * Called before the response is sent, to count its memory. It can throw an error to prevent the
   * response.
   */
  readonly count: (characters: number) => void;
}

/** Returns the JSON response of a route, or 204. */
export function renderJson(
  doc: RouteDoc,
  { data, next, replayed, cookies = [] }: JsonResult,
  { basePath, count }: JsonRendering,
): Response {
  const headers = headersWith(cookies);
  if (replayed) headers.set("idempotency-replayed", "true");
  const status = statusOf(doc);
  if ((data === undefined) !== (status === 204))
    throw new Error(`${doc.id}: the handler's data does not fit the status ${status}`);
  if (data === undefined) return new Response(null, { status, headers });
  headers.set("content-type", "application/json");
  const fields = data as Readonly<Record<string, unknown>>;
  const location = doc.created?.replaceAll(/:(\w+)/g, (_, name: string) => String(fields[name]));
  if (location !== undefined) headers.set("location", `${basePath}/api/public${location}`);
  if (doc.etag) headers.set("etag", `"${fields.version}"`);
  const text = JSON.stringify({ ok: true, data, ...(next === undefined ? {} : { next }) });
  count(text.length);
  return new Response(text, { status, headers });
}

interface StreamedRendering {
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[];
  /**
   * Called with the number of bytes that are in memory: once before the response begins, and again
   * with each part. It can throw an error, which prevents the response or, once that has begun,
   * ends it.
   */
  readonly countStreamed: (bytes: number) => void;
  /**
   * Called if the content cannot be read or sent to its end. The response has begun then, so the
   * function must disconnect the client, which otherwise would take the incomplete response for a
   * complete one.
   */
  readonly onFailure: (thrown: unknown) => void;
}

/** Returns a response that sends lines or a file. */
export function renderStreamed(result: StreamedResult, rendering: StreamedRendering): Response {
  const headers = headersWith(rendering.cookies);
  if (result.lines !== undefined) {
    headers.set("content-type", "application/jsonl");
    const { values, heldBytes } = result.lines;
    return streamed({ content: asLines(values), heldBytes }, headers, rendering);
  }
  const { name, type, bytes } = result.file;
  headers.set("content-type", type);
  headers.set("content-disposition", `attachment; filename="${name}"`);
  // If a browser shows the file in spite of `attachment`, it executes no script in it.
  headers.set("content-security-policy", "sandbox; default-src 'none'");
  headers.set("x-content-type-options", "nosniff");
  if (bytes !== undefined) headers.set("content-length", String(bytes));
  return streamed(result.file, headers, rendering);
}

function headersWith(cookies: readonly string[]): Headers {
  const headers = new Headers();
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return headers;
}

async function* asLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

type Content = Pick<FileResult["file"], "content" | "heldBytes">;

function streamed(given: Content, headers: Headers, rendering: StreamedRendering): Response {
  rendering.countStreamed(given.heldBytes());
  return new Response(ReadableStream.from(encoded(given, rendering)), { status: 200, headers });
}

async function* encoded(
  { content, heldBytes }: Content,
  { countStreamed, onFailure }: StreamedRendering,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    for await (const part of content) {
      countStreamed(heldBytes());
      yield typeof part === "string" ? encoder.encode(part) : part;
    }
  } catch (thrown) {
    onFailure(thrown);
  }
}
