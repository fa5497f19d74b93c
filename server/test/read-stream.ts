import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { type StreamEvent, streamEvent } from "@beckon/contract";
import { eventually } from "./eventually.ts";

/** One frame of a stream, parsed as browsers do. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: StreamEvent;
}

export interface StreamOptions {
  readonly credential?: string;
  readonly headers?: Record<string, string>;
  /** The body of a POST. Default: a GET is sent. */
  readonly body?: unknown;
  /** Number of received bytes after which the reader resets the connection. Default: never. */
  readonly cutAfter?: number;
  /** Reads nothing from the socket until `takeByte` or `resume` is called. */
  readonly paused?: boolean;
}

/** A reader of `text/event-stream` on its own connection. */
export interface StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes received so far, as text. */
  readonly text: string;
  /**
   * Complete frames so far.
   *
   * @throws {Error} a frame violates the contract.
   */
  readonly frames: readonly Frame[];
  /** Sequence numbers of the frames that are journal events. */
  readonly seqs: readonly number[];
  /** The last id in the stream, also of a frame without data; undefined if no frame has an id. */
  readonly lastEventId: string | undefined;
  readonly types: readonly string[];
  /** Resolves when the stream is over: the server ended it, or the connection broke. */
  readonly over: Promise<"ended" | "cut">;
  /** Resolves when a frame of this type has arrived. */
  has(type: string): Promise<void>;
  /** Reads one byte; only for a paused reader. */
  takeByte(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream; resolves when the response headers have arrived. */
export async function openStream(url: string, options: StreamOptions = {}): Promise<StreamReader> {
  const { credential, body, cutAfter = Number.POSITIVE_INFINITY, paused = false } = options;
  const sent = request(url, {
    agent: false,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "text/event-stream",
      ...(credential === undefined ? {} : { "x-api-key": credential }),
      ...options.headers,
    },
  });
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, Math.max(0, cutAfter - bytes)));
    bytes += chunk.length;
    if (bytes >= cutAfter) incoming.socket.resetAndDestroy();
  };
  const over = new Promise<"ended" | "cut">((resolve) => {
    incoming.once("end", () => resolve("ended")).once("error", () => resolve("cut"));
    incoming.once("close", () => resolve("cut"));
  });
  if (!paused) incoming.on("data", take);

  const text = () => Buffer.concat(chunks).toString();
  const reader: StreamReader = {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    get text() {
      return text();
    },
    get frames() {
      return readFrames(text());
    },
    get seqs() {
      return reader.frames.flatMap(({ data }) =>
        "seq" in data && data.seq !== null ? [data.seq] : [],
      );
    },
    get lastEventId() {
      return [...text().matchAll(/^id: (.+)\n(?:.+\n)*\n/gm)].at(-1)?.[1];
    },
    get types() {
      return reader.frames.map(({ event }) => event);
    },
    over,
    has: async (type) => {
      await eventually(`a frame of ${type}`, () => reader.types.includes(type) || undefined);
    },
    takeByte: () => {
      const chunk = incoming.read(1) as Buffer | null;
      if (chunk !== null) take(chunk);
    },
    resume: () => void incoming.on("data", take),
    close: () => incoming.destroy(),
  };
  return reader;
}

/**
 * Parses the frames of a stream by the HTML standard: lines end with CRLF, LF or CR; a frame
 * without a final empty line is incomplete.
 */
function readFrames(text: string): Frame[] {
  const frames: Frame[] = [];
  let id: string | undefined;
  let event = "";
  let data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/).slice(0, -1)) {
    if (line === "") {
      if (data.length > 0) frames.push(frame(id, event, data.join("\n")));
      id = undefined;
      event = "";
      data = [];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field !== "" && field !== "retry")
      throw new Error(`a line of a stream is ${JSON.stringify(line)}`);
  }
  return frames;
}

function frame(id: string | undefined, event: string, text: string): Frame {
  const data = streamEvent.parse(JSON.parse(text));
  if (data.type !== event) throw new Error(`the event ${event} holds one of type ${data.type}`);
  const cursor = "cursor" in data ? data.cursor : "seq" in data ? String(data.seq) : undefined;
  if (id !== cursor) throw new Error(`the event ${event} has the id ${id}`);
  return { id, event, data };
}
