import type { Scope } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import type { Egress } from "../../base/egress/index.ts";
import type { UnparsedBody } from "../../base/parse.ts";
import type { EventPoller } from "../../events/index.ts";
import type { ModelListServices } from "../../providers/index.ts";
import type { RunServices } from "../../runs/index.ts";
import { authenticate, streamCredentialOf, workspaceOf } from "../authentication/index.ts";
import {
  addressOf,
  bindKey,
  canSend,
  headerOf,
  holdExchange,
  idempotencyKey,
  pathMember,
  type RequestContext,
  readBody,
  readDeadline,
  tooManyResponses,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { acceptsStream, type StreamSource } from "../streams/index.ts";
import { managedBody } from "./managed-body.ts";
import type { RouteDoc } from "./route-doc.ts";

export type ManagedContext = Context &
  ModelListServices & {
    readonly runs: RunServices;
    readonly tail: EventPoller;
    readonly egress: Egress;
  };

/** What a handler of a managed route gets: all of it parsed as far as HTTP goes, none of it judged. */
export interface ManagedRequest {
  readonly ctx: ManagedContext;
  /** A member of the path; the route's pattern says that it is there. */
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  readonly body: UnparsedBody;
  readonly publicUrl: string;
}

export interface Answer {
  /** Without data: 204. */
  readonly data?: unknown;
  /** In place of data: answered one by one, as JSON Lines, as fast as the caller reads. */
  readonly lines?: AsyncIterable<unknown>;
  /** In place of data: a file of its own form, written as fast as the caller reads. */
  readonly file?: {
    readonly name: string;
    readonly type: string;
    readonly text: AsyncIterable<string>;
  };
  /** Of a list. */
  readonly next?: string | null;
  /** The path of what was created: 201. */
  readonly location?: string;
  /** The answer shows a secret and must not be kept by anything on the way. */
  readonly secret?: boolean;
  readonly replayed?: boolean;
  /** The version of the resource, for `If-Match`. */
  readonly etag?: string;
  readonly cookies?: readonly string[];
}

/** What a route gives to who reads a stream. `agentIds`: all of it is of these agents; null: of the whole workspace. */
export interface StreamAnswer extends StreamSource {
  readonly agentIds: readonly string[] | null;
}

/** A route of the management API. It calls one verb, which checks the same permission that is declared here. */
export interface ManagedRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under `/api/public`. */
  readonly path: string;
  readonly permission: Scope;
  /** It is about all workspaces of a member, who need not name one. */
  readonly anyWorkspace?: true;
  readonly doc: RouteDoc;
  readonly handle: (request: ManagedRequest) => Promise<Answer>;
  /**
   * For GET, in the place of `handle`, to who accepts `text/event-stream`. Undefined: nothing comes any more, which is answered
   * with 204, since that ends a browser's reconnecting.
   */
  readonly stream?: (
    request: ManagedRequest & { readonly lastEventId: string | undefined },
  ) => Promise<StreamAnswer | undefined>;
}

/** The order of the contract: credential here, scope and resource in the verb, then idempotency, then the body. */
export async function handleManaged(
  services: Services,
  route: ManagedRoute,
  c: RequestContext,
): Promise<Response> {
  const { incoming, outgoing } = c.env;
  const { workspace: wanted, ...query } = c.req.query();
  const id = c.req.param("workspace_id") ?? workspaceOf(incoming, wanted);
  const inTime = readDeadline();
  const authenticated = await inTime(
    authenticate(services, incoming, { id, any: route.anyWorkspace }),
  );
  const { actor, workspaceId, cookies = [] } = authenticated;
  const hold = holdExchange(services.runs.memory.exchanges, workspaceId, outgoing);
  const raw = route.method === "GET" ? undefined : await readBody(incoming, () => hold);
  const key =
    route.method === "POST" ? idempotencyKey(headerOf(incoming, "idempotency-key")) : undefined;
  const binding = raw && bindKey(key, raw);
  const { database, cipher, operator, runs, egress, outbound, modelLists } = services;
  const request: ManagedRequest = {
    ctx: {
      actor,
      workspaceId,
      address: addressOf(incoming, services.trustProxy),
      database,
      cipher,
      operator,
      runs,
      tail: runs.tail,
      egress,
      outbound,
      modelLists,
      idempotency: binding && { route: `${route.method} ${c.req.path}`, binding },
      ifMatch: entityTag(headerOf(incoming, "if-match")),
    },
    param: (name) => pathMember(c, name),
    // To a key it is a member of the query like any other, which no route knows.
    query: actor.kind === "user" ? query : c.req.query(),
    body: managedBody(raw, headerOf(incoming, "content-type"), route.doc),
    publicUrl: services.publicUrl(),
  };
  if (
    route.stream === undefined ||
    incoming.method === "HEAD" ||
    !acceptsStream(headerOf(incoming, "accept"))
  ) {
    const handled = route.handle(request);
    return render(
      { ...(await (route.method === "GET" ? inTime(handled) : handled)), cookies },
      (text) => {
        if (!canSend(text, () => hold, outgoing)) throw tooManyResponses();
      },
    );
  }
  const held = {
    ...streamCredentialOf(authenticated, incoming),
    workspaceId,
    scope: route.permission,
  };
  const reservation = services.streams.reserve(held.id);
  try {
    const source = await inTime(
      route.stream({ ...request, lastEventId: headerOf(incoming, "last-event-id") }),
    );
    if (source === undefined) return new Response(null, { status: 204 });
    const headers = cookies[0] === undefined ? {} : { "set-cookie": cookies[0] };
    return reservation.answer(c, source, { ...held, agentIds: source.agentIds }, headers);
  } finally {
    reservation.release();
  }
}

/** The version in `If-Match`; `*` asks for none in particular. */
function entityTag(header: string | undefined): string | undefined {
  return header === "*" ? undefined : header?.replace(/^(?:W\/)?"?(.*?)"?$/, "$1");
}

/** The answer of a route as it is sent. `count` is called with its text. */
export function render(answer: Answer, count: (text: string) => void = () => {}): Response {
  const headers = new Headers({ "content-type": "application/json" });
  const { cookies = [] } = answer;
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  if (answer.location !== undefined) headers.set("location", answer.location);
  if (answer.secret || cookies.length > 0) headers.set("cache-control", "no-store");
  if (answer.replayed) headers.set("idempotency-replayed", "true");
  if (answer.etag !== undefined) headers.set("etag", `"${answer.etag}"`);
  if (answer.lines !== undefined) {
    headers.set("content-type", "application/jsonl");
    return new Response(ReadableStream.from(encoded(asLines(answer.lines))), {
      status: 200,
      headers,
    });
  }
  if (answer.file !== undefined) {
    headers.set("content-type", answer.file.type);
    headers.set("content-disposition", `attachment; filename="${answer.file.name}"`);
    return new Response(ReadableStream.from(encoded(answer.file.text)), { status: 200, headers });
  }
  if (answer.data === undefined) {
    headers.delete("content-type");
    return new Response(null, { status: 204, headers });
  }
  const body = {
    ok: true,
    data: answer.data,
    ...(answer.next === undefined ? {} : { next: answer.next }),
  };
  const text = JSON.stringify(body);
  count(text);
  return new Response(text, { status: answer.location === undefined ? 200 : 201, headers });
}

async function* asLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}
