import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { takeReserved } from "./reserved-ports.ts";
import { chunk, type ModelOutput, type ProviderError, type Wire, wireOf } from "./wire/index.ts";

export type { ModelOutput } from "./wire/index.ts";

/** A request as the server received it, in any wire format; `body` is the parsed JSON. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatBody;
}

/** Fields that tests read: those of OpenAI's chat completions. Other formats have their own. */
export interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly parameters: unknown };
  }[];
  readonly [member: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** A complete HTTP response. The server adds the framing: a length, or chunks for a stream. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One piece for a body of known length; the pieces of a stream are sent one after the other. */
  readonly pieces: readonly (string | Uint8Array)[];
}

/** How a reply is sent. `after` counts bytes from the status line on, framing included. */
export type Delivery =
  | { readonly type: "complete" }
  /** The connection is reset (or closed, with `gently`) after this many bytes. */
  | { readonly type: "cut"; readonly after: number; readonly gently?: boolean }
  /** Nothing more is sent after this many bytes; the connection stays open. */
  | { readonly type: "stall"; readonly after: number }
  /**
   * After the reply, `piece` is repeated until `bytes` more bytes were sent, as fast as the client
   * reads.
   */
  | { readonly type: "flood"; readonly piece: string; readonly bytes: number };

/** Responds to one request. `index` counts requests from 0. */
export type Behaviour = (
  request: ModelRequest,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>;
export interface ScriptedReply {
  readonly reply: Reply;
  readonly delivery: Delivery;
}

export interface ModelServer {
  /** The base URL for a provider of any kind: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /**
   * All model requests so far, in order. GET requests return a list of one model and are not
   * recorded.
   */
  readonly requests: readonly ModelRequest[];
  /** GET requests so far. */
  readonly listRequests: number;
  /**
   * Sets one behaviour for all further requests, or a list with one behaviour for each of the next
   * requests. Once the list is used up, the model repeats its input.
   */
  script(behaviours: Behaviour | readonly Behaviour[]): void;
  /** Bytes that floods have sent. */
  readonly flooded: number;
  /** Clears the requests and the script. */
  reset(): void;
  /**
   * Resolves with the number of bytes that `behaviour` would send for a request, so that a test can
   * disconnect at each of them.
   */
  bytesOf(behaviour: Behaviour, body: ChatBody, path?: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts a model server over real HTTP that responds as scripted.
 * @param address a port, or a listener whose port the server takes over. Default: a reserved port
 *   of 127.0.0.1, which the Beckon servers of this process are allowed to call (see `takeReserved`)
 */
export async function startModelServer(
  address?: Server | { readonly port: number; readonly host: string },
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const sockets = new Set<Socket>();
  let queue: Behaviour[] = [];
  let always: Behaviour = echo();
  let flooded = 0;
  let listRequests = 0;

  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === "GET") {
      listRequests++;
      const openai = { object: "list", data: [{ id: "scripted", object: "model" }] };
      return answer(outgoing, jsonReply({ ...openai, models: [{ name: "models/scripted" }] }));
    }
    const request = await readRequest(incoming);
    const index = requests.push(request) - 1;
    const behaviour = queue.shift() ?? always;
    const { reply, delivery } = await behaviour(request, index);
    if (delivery.type === "complete") answer(outgoing, reply);
    else if (delivery.type === "flood")
      await flood(outgoing, reply, delivery, (bytes) => (flooded += bytes));
    else breakOff(incoming.socket, frames(reply), delivery);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  const place = address ?? (await takeReserved());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(place, resolve);
  });
  server.ref();

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get listRequests() {
      return listRequests;
    },
    get flooded() {
      return flooded;
    },
    script(behaviours) {
      queue = typeof behaviours === "function" ? [] : [...behaviours];
      always = typeof behaviours === "function" ? behaviours : echo();
    },
    reset() {
      requests.length = 0;
      listRequests = 0;
      flooded = 0;
      queue = [];
      always = echo();
    },
    async bytesOf(behaviour, body, path = "/v1/chat/completions") {
      const { reply } = await behaviour({ path, headers: {}, body }, 0);
      return Buffer.concat(frames(reply)).length;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: JSON.parse(Buffer.concat(chunks).toString()) as ChatBody,
  };
}

/**
 * Returns the bytes of a response, with its head and framing. They are written directly to the
 * socket, because node:http cannot send a truncated response.
 */
function frames({ status, headers, pieces }: Reply): Buffer[] {
  const chunked = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const bytes = pieces.map((piece) => Buffer.from(piece));
  const framing = chunked
    ? "transfer-encoding: chunked"
    : `content-length: ${Buffer.concat(bytes).length}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}${framing}\r\n\r\n`);
  if (!chunked) return [head, ...bytes];
  const body = bytes.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from("\r\n"),
  ]);
  return [head, ...body, Buffer.from("0\r\n\r\n")];
}

function answer(outgoing: ServerResponse, { status, headers, pieces }: Reply): void {
  outgoing.writeHead(status, headers);
  if (pieces.length === 1) return void outgoing.end(pieces[0]);
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
}

/** Sends a reply and then repeats `piece`. Ends early when the client disconnects. */
async function flood(
  outgoing: ServerResponse,
  { status, headers, pieces }: Reply,
  { piece, bytes }: Extract<Delivery, { type: "flood" }>,
  count: (bytes: number) => void,
): Promise<void> {
  outgoing.writeHead(status, headers);
  for (const first of pieces) outgoing.write(first);
  const again = Buffer.from(piece);
  for (let sent = 0; sent < bytes && !outgoing.destroyed; sent += again.length) {
    count(again.length);
    if (outgoing.write(again)) continue;
    await new Promise((resolve) => outgoing.once("drain", resolve).once("close", resolve));
    outgoing.removeAllListeners("drain").removeAllListeners("close");
  }
  outgoing.end();
}

function breakOff(
  socket: Socket,
  all: readonly Buffer[],
  delivery: Extract<Delivery, { type: "cut" | "stall" }>,
): void {
  const part = Buffer.concat(all).subarray(0, delivery.after);
  const leave = () => {
    if (delivery.type === "stall") return;
    if (delivery.gently) socket.end();
    else socket.resetAndDestroy();
  };
  if (part.length === 0) leave();
  else socket.write(part, leave);
}

/** Responds with this model output, in the request's format, and streamed if requested. */
export function says(said: ModelOutput | string): Behaviour {
  const saying = typeof said === "string" ? { text: said } : said;
  return (request) => {
    const { wire, model, streamed } = readCall(request);
    const reply = streamed
      ? sseReply(wire.stream(saying, model).events)
      : jsonReply(wire.plain(saying, model));
    return { reply, delivery: { type: "complete" } };
  };
}

/**
 * Streams the events that `change` returns. `change` gets the events that `says` would send, of
 * which the last `closing` events complete the response.
 */
export function streams(
  said: ModelOutput,
  change: (events: readonly unknown[], closing: number, wire: Wire) => readonly unknown[],
): Behaviour {
  return (request) => {
    const { wire, model } = readCall(request);
    const { events, closing } = wire.stream(said, model);
    return { reply: sseReply(change(events, closing, wire)), delivery: { type: "complete" } };
  };
}

/** Responds with the last user message as the model's output. */
export function echo(): Behaviour {
  return (request, index) => says(wireOf(request.path).lastInput(request.body))(request, index);
}

/** Responds with an error status, by default with an error body in the request's format. */
export function status(
  code: number,
  options: { readonly headers?: Record<string, string>; readonly body?: string } = {},
): Behaviour {
  return ({ path }) => ({
    reply: {
      status: code,
      headers: { "content-type": "application/json", ...options.headers },
      pieces: [options.body ?? JSON.stringify(wireOf(path).error(code, `scripted ${code}`))],
    },
    delivery: { type: "complete" },
  });
}

/** Responds with status 200 and this body. */
export function body(
  text: string | Uint8Array,
  contentType = "application/json",
  headers: Record<string, string> = {},
): Behaviour {
  return () => ({
    reply: { status: 200, headers: { "content-type": contentType, ...headers }, pieces: [text] },
    delivery: { type: "complete" },
  });
}

/**
 * Responds with status 200 and an error. If the request asks for a stream, the error is an event
 * after the events of `begun`, the output so far. Otherwise the error is the body.
 */
export function inBandError(
  error: ProviderError | string,
  begun: ModelOutput = { text: "half a te" },
): Behaviour {
  return (request) => {
    const { wire, model, streamed } = readCall(request);
    // Some servers of chat completions send a plain string as the error.
    const content = typeof error === "string" ? { error } : wire.inBand(error, streamed);
    if (!streamed) return { reply: jsonReply(content), delivery: { type: "complete" } };
    const { events, closing } = wire.stream(begun, model);
    const opening = events.slice(0, events.length - closing);
    return {
      reply: sseReply([...opening, content, ...events.slice(opening.length)]),
      delivery: { type: "complete" },
    };
  };
}

/** Responds with a stream that has one event for each `data`. */
export function streamOf(...data: readonly string[]): Behaviour {
  return () => ({ reply: sseReply(data), delivery: { type: "complete" } });
}

/** Returns one event of a stream of chat completions with this text. */
export function textChunk(text: string, finish: string | null = null): string {
  return JSON.stringify(chunk("scripted", { content: text }, finish));
}

/** Never responds. */
export const blackHole: Behaviour = () => ({
  reply: jsonReply({}),
  delivery: { type: "stall", after: 0 },
});

/** Sends the reply of `behaviour` as `delivery` says, for example truncated. */
export function withDelivery(delivery: Delivery, behaviour: Behaviour): Behaviour {
  return async (request, index) => ({ ...(await behaviour(request, index)), delivery });
}

/** Sends the reply of `behaviour` once `released` resolves. */
export function held(released: Promise<unknown>, behaviour: Behaviour): Behaviour {
  return async (request, index) => {
    await released;
    return behaviour(request, index);
  };
}

function readCall({ path, body: sent }: ModelRequest): {
  readonly wire: Wire;
  readonly model: string;
  readonly streamed: boolean;
} {
  const wire = wireOf(path);
  return { wire, model: sent.model ?? "model", streamed: wire.streamed(path, sent) };
}

function jsonReply(value: unknown): Reply {
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    pieces: [JSON.stringify(value)],
  };
}

function sseReply(events: readonly unknown[]): Reply {
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    pieces: events.map(frame),
  };
}

/** Returns one server-sent event. If the event has a `type`, this is also the name of the event. */
export function frame(event: unknown): string {
  if (typeof event === "string") return `data: ${event}\n\n`;
  const type =
    typeof event === "object" && event !== null && "type" in event ? event.type : undefined;
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}
