import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as it reached the server. `body` is the parsed JSON. */
export interface ModelRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatBody;
}

/** What of OpenAI's chat completions the tests look at. */
export interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly [member: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

/** A whole HTTP answer. The server adds the framing: a length, or chunks for a stream. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One piece for a body of known length; a stream's pieces are sent one after the other. */
  readonly pieces: readonly string[];
}

/** How a reply reaches the client. `after` counts bytes from the status line on, framing included. */
export type Fate =
  | { readonly type: "whole" }
  /** The connection is reset (or, with `gently`, closed) after so many bytes. */
  | { readonly type: "cut"; readonly after: number; readonly gently?: boolean }
  /** Nothing more comes after so many bytes; the connection stays open. */
  | { readonly type: "stall"; readonly after: number };

/** Answers one request. `index` counts requests from 0. */
export type Behaviour = (request: ModelRequest, index: number) => Scene | Promise<Scene>;
export interface Scene {
  readonly reply: Reply;
  readonly fate: Fate;
}

export interface ModelServer {
  /** The base URL of a provider: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** All requests so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** One behaviour for all requests from now on, or a queue of them; after the queue every request is echoed. */
  script(behaviours: Behaviour | readonly Behaviour[]): void;
  /** Forgets requests and script. */
  reset(): void;
  /** Resolves with the bytes that `behaviour` would send for a request, so that a test can cut at each of them. */
  bytesOf(behaviour: Behaviour, body: ChatBody): Promise<number>;
  close(): Promise<void>;
}

/** A model server over real HTTP on a free port of 127.0.0.1, playing what it is told to. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const sockets = new Set<Socket>();
  let queue: Behaviour[] = [];
  let always: Behaviour = echo();

  const server = createServer(async (incoming, outgoing) => {
    const request = await readRequest(incoming);
    const index = requests.push(request) - 1;
    const behaviour = queue.shift() ?? always;
    const { reply, fate } = await behaviour(request, index);
    if (fate.type === "whole") answer(outgoing, reply);
    else breakOff(incoming.socket, frames(reply), fate);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script(behaviours) {
      queue = typeof behaviours === "function" ? [] : [...behaviours];
      always = typeof behaviours === "function" ? behaviours : echo();
    },
    reset() {
      requests.length = 0;
      queue = [];
      always = echo();
    },
    async bytesOf(behaviour, body) {
      const { reply } = await behaviour({ path: "/v1/chat/completions", headers: {}, body }, 0);
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
  return { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as ChatBody };
}

/** An answer as bytes, for those that are to be cut: they are written past node:http. */
function frames({ status, headers, pieces }: Reply): Buffer[] {
  const chunked = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const framing = chunked ? "transfer-encoding: chunked" : `content-length: ${Buffer.byteLength(pieces.join(""))}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}${framing}\r\n\r\n`);
  if (!chunked) return [head, Buffer.from(pieces.join(""))];
  const body = pieces.map((piece) => Buffer.from(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`));
  return [head, ...body, Buffer.from("0\r\n\r\n")];
}

function answer(outgoing: ServerResponse, { status, headers, pieces }: Reply): void {
  outgoing.writeHead(status, headers);
  if (pieces.length === 1) return void outgoing.end(pieces[0]);
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
}

function breakOff(socket: Socket, all: readonly Buffer[], fate: Exclude<Fate, { type: "whole" }>): void {
  const part = Buffer.concat(all).subarray(0, fate.after);
  const leave = () => {
    if (fate.type === "stall") return;
    if (fate.gently) socket.end();
    else socket.resetAndDestroy();
  };
  if (part.length === 0) leave();
  else socket.write(part, leave);
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens?: number;
}

/** What the model says. */
export interface Said {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Default: `tool_calls` with calls, else `stop`; null: none is sent. */
  readonly finish?: string | null;
  /** Default: 10 in, 5 out; null: none is sent. */
  readonly usage?: Usage | null;
}

/** The model says this, streamed when asked to. */
export function says(said: Said | string): Behaviour {
  const saying = typeof said === "string" ? { text: said } : said;
  return ({ body }) => ({ reply: body.stream ? streamReply(saying, body.model) : plainReply(saying, body.model), fate: { type: "whole" } });
}

/** The model repeats the last user message. */
export function echo(): Behaviour {
  return (request, index) => says(request.body.messages.findLast(({ role }) => role === "user")?.content ?? "")(request, index);
}

/** A refusal, by default in OpenAI's form. */
export function status(code: number, options: { readonly headers?: Record<string, string>; readonly body?: string } = {}): Behaviour {
  const body = options.body ?? JSON.stringify({ error: { message: `scripted ${code}`, type: "scripted", code: null } });
  return () => ({
    reply: { status: code, headers: { "content-type": "application/json", ...options.headers }, pieces: [body] },
    fate: { type: "whole" },
  });
}

/** 200 with any body, whole. */
export function body(text: string, contentType = "application/json"): Behaviour {
  return () => ({ reply: { status: 200, headers: { "content-type": contentType }, pieces: [text] }, fate: { type: "whole" } });
}

/** 200 and an error in band: the body itself, or a piece of the stream after some text. */
export function inBandError(error: unknown): Behaviour {
  return ({ body: { model, stream } }) => {
    if (!stream) return { reply: jsonReply({ error }), fate: { type: "whole" } };
    return { reply: sseReply([chunk(model, { content: "half a te" }), JSON.stringify({ error }), "[DONE]"]), fate: { type: "whole" } };
  };
}

/** A stream with pieces of any kind, each the `data` of one event. */
export function streamOf(...data: readonly string[]): Behaviour {
  return () => ({ reply: sseReply(data), fate: { type: "whole" } });
}

/** One piece of a stream that says `text`. */
export function textChunk(text: string, finish: string | null = null): string {
  return chunk("scripted", { content: text }, finish);
}

/** Never answers. */
export const blackHole: Behaviour = () => ({ reply: jsonReply({}), fate: { type: "stall", after: 0 } });

/** What `behaviour` sends, with another fate. */
export function fated(fate: Fate, behaviour: Behaviour): Behaviour {
  return async (request, index) => ({ ...(await behaviour(request, index)), fate });
}

/** What `behaviour` sends, once `released` resolves. */
export function held(released: Promise<unknown>, behaviour: Behaviour): Behaviour {
  return async (request, index) => {
    await released;
    return behaviour(request, index);
  };
}

function plainReply({ text, reasoning, calls = [], finish, usage = defaultUsage }: Said, model: string): Reply {
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({ id, type: "function", function: { name, arguments: args } }));
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  const reason = finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : finish;
  return jsonReply({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, ...(reason !== null && { finish_reason: reason }) }],
    ...(usage !== null && { usage }),
  });
}

function streamReply({ text, reasoning, calls = [], finish, usage = defaultUsage }: Said, model: string): Reply {
  const words = (whole: string | undefined) => whole?.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
  const reason = finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : finish;
  return sseReply([
    ...words(reasoning).map((word) => chunk(model, { reasoning_content: word })),
    ...words(text).map((word) => chunk(model, { content: word })),
    ...calls.flatMap(({ id, name, arguments: args }, index) => {
      const middle = Math.ceil(args.length / 2);
      const rest = { index, function: { arguments: args.slice(middle) } };
      const first = { index, id, type: "function", function: { name, arguments: args.slice(0, middle) } };
      return [chunk(model, { tool_calls: [first] }), chunk(model, { tool_calls: [rest] })];
    }),
    ...(reason === null ? [] : [chunk(model, {}, reason)]),
    ...(usage === null ? [] : [JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model, choices: [], usage })]),
    "[DONE]",
  ]);
}

const defaultUsage: Usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function chunk(model: string, delta: object, finish: string | null = null): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

function jsonReply(value: unknown): Reply {
  return { status: 200, headers: { "content-type": "application/json" }, pieces: [JSON.stringify(value)] };
}

function sseReply(data: readonly string[]): Reply {
  return { status: 200, headers: { "content-type": "text/event-stream" }, pieces: data.map((each) => `data: ${each}\n\n`) };
}
