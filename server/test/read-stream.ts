import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { type StreamEvent, streamEvent } from "@beckon/contract";
import { eventually } from "./eventually.ts";

/** One frame of a stream, read as browsers read it. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: StreamEvent;
}

export interface StreamOptions {
  readonly credential?: string;
  readonly headers?: Record<string, string>;
  /** Makes it a POST. */
  readonly body?: unknown;
  /** Resets the connection as soon as so many bytes have come. */
  readonly cutAfter?: number;
  /** Takes nothing off the socket until it is told to. */
  readonly paused?: boolean;
}

/** A reader of `text/event-stream`, on a connection of its own. */
export interface StreamReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What has come so far, as it came. */
  readonly text: string;
  /** Whole frames so far. @throws when one does not hold what the contract says */
  readonly frames: readonly Frame[];
  /** Events of the journal among them. */
  readonly seqs: readonly number[];
  /** The cursor of a reader who has had these frames. */
  readonly lastEventId: string | undefined;
  readonly types: readonly string[];
  /** The rest of it, once the server has ended it or the connection was cut: which of the two. */
  readonly over: Promise<"ended" | "cut">;
  /** Resolves when a frame of this type has come. */
  has(type: string): Promise<void>;
  /** Reads one byte. Of a paused reader. */
  takeByte(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream; resolves when the head of its answer is there. */
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
      return reader.frames.findLast(({ id }) => id !== undefined)?.id;
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

/** The frames of a stream as the HTML standard reads them: lines end at CRLF, LF or CR; what has no empty line after it is none yet. */
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
  const place = "cursor" in data ? data.cursor : "seq" in data ? String(data.seq) : undefined;
  if (id !== place) throw new Error(`the event ${event} has the id ${id}`);
  return { id, event, data };
}
