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
  pathParameter,
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

/** A request as handlers get it: HTTP is decoded, no schema is applied yet. */
export interface ManagedRequest {
  readonly ctx: ManagedContext;
  /** Returns a path parameter of the route's pattern. */
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  readonly body: UnparsedBody;
  readonly publicUrl: string;
}

export interface RouteResult {
  /** Absent: the response is 204. */
  readonly data?: unknown;
  /** Instead of data: sent one by one as JSON Lines, as fast as the client reads. */
  readonly lines?: AsyncIterable<unknown>;
  /** Instead of data: a file, sent as fast as the client reads. */
  readonly file?: {
    readonly name: string;
    readonly type: string;
    readonly text: AsyncIterable<string>;
  };
  /** The cursor of a list's following page. */
  readonly next?: string | null;
  /** The path of the resource that was created; the response is 201. */
  readonly location?: string;
  /** The response holds a secret, which no cache can store. */
  readonly secret?: boolean;
  readonly replayed?: boolean;
  /** The version of the resource, for `If-Match`. */
  readonly etag?: string;
  readonly cookies?: readonly string[];
}

/** The source of a stream. `agentIds`: the agents it is limited to; null: the whole workspace. */
export interface RouteStream extends StreamSource {
  readonly agentIds: readonly string[] | null;
}

/** A route of the management API. It calls one operation, which checks the same permission. */
export interface ManagedRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under `/api/public`. */
  readonly path: string;
  readonly permission: Scope;
  /** The route concerns all workspaces of a member, so the request need not name one. */
  readonly anyWorkspace?: true;
  readonly doc: RouteDoc;
  readonly handle: (request: ManagedRequest) => Promise<RouteResult>;
  /**
   * For GET, instead of `handle`, if the client accepts `text/event-stream`. Undefined: the stream
   * has ended, and the response is 204, after which browsers do not reconnect.
   */
  readonly stream?: (
    request: ManagedRequest & { readonly lastEventId: string | undefined },
  ) => Promise<RouteStream | undefined>;
}

/**
 * Handles a request to a managed route. Errors have a fixed order: the credential here, then scope,
 * resource, idempotency and body in the operation.
 */
export async function handleManaged(
  services: Services,
  route: ManagedRoute,
  c: RequestContext,
): Promise<Response> {
  const { incoming, outgoing } = c.env;
  const { workspace: wanted, ...query } = c.req.query();
  const id = c.req.param("workspace_id") ?? workspaceOf(incoming, wanted);
  const withinDeadline = readDeadline();
  const authenticated = await withinDeadline(
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
    param: (name) => pathParameter(c, name),
    // Only sessions use `?workspace=`; with a key it is rejected as an unknown parameter.
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
      { ...(await (route.method === "GET" ? withinDeadline(handled) : handled)), cookies },
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
    const source = await withinDeadline(
      route.stream({ ...request, lastEventId: headerOf(incoming, "last-event-id") }),
    );
    if (source === undefined) return new Response(null, { status: 204 });
    const headers = cookies[0] === undefined ? {} : { "set-cookie": cookies[0] };
    return reservation.respond(c, source, { ...held, agentIds: source.agentIds }, headers);
  } finally {
    reservation.release();
  }
}

/** Returns the version in `If-Match`; undefined for `*`, which any version matches. */
function entityTag(header: string | undefined): string | undefined {
  return header === "*" ? undefined : header?.replace(/^(?:W\/)?"?(.*?)"?$/, "$1");
}

/** Returns the HTTP response of a route. Calls `count` with its text before it is sent. */
export function render(result: RouteResult, count: (text: string) => void = () => {}): Response {
  const headers = new Headers({ "content-type": "application/json" });
  const { cookies = [] } = result;
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  if (result.location !== undefined) headers.set("location", result.location);
  if (result.secret || cookies.length > 0) headers.set("cache-control", "no-store");
  if (result.replayed) headers.set("idempotency-replayed", "true");
  if (result.etag !== undefined) headers.set("etag", `"${result.etag}"`);
  if (result.lines !== undefined) {
    headers.set("content-type", "application/jsonl");
    return new Response(ReadableStream.from(encoded(asLines(result.lines))), {
      status: 200,
      headers,
    });
  }
  if (result.file !== undefined) {
    headers.set("content-type", result.file.type);
    headers.set("content-disposition", `attachment; filename="${result.file.name}"`);
    return new Response(ReadableStream.from(encoded(result.file.text)), { status: 200, headers });
  }
  if (result.data === undefined) {
    headers.delete("content-type");
    return new Response(null, { status: 204, headers });
  }
  const body = {
    ok: true,
    data: result.data,
    ...(result.next === undefined ? {} : { next: result.next }),
  };
  const text = JSON.stringify(body);
  count(text);
  return new Response(text, { status: result.location === undefined ? 200 : 201, headers });
}

async function* asLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}
