import type { Scope } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { Refusal } from "../base/errors.ts";
import type { Runtime } from "../runs/index.ts";
import { authenticate } from "./authenticate.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { hashBody, jsonOf, type RawBody, readBody, textOf } from "./read-body.ts";
import { addressOf, headerOf, pathMember, type Request } from "./request.ts";
import type { RouteDoc } from "./route-doc.ts";
import type { Services } from "./services.ts";

export type ManagedContext = Context & { readonly runtime: Runtime };

/** What a handler of a managed route gets: all of it parsed as far as HTTP goes, none of it judged. */
export interface ManagedRequest {
  readonly ctx: ManagedContext;
  /** A member of the path; the route's pattern says that it is there. */
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  /** Undefined without a body; a `Refusal` when it could not be read, which `parse` gives when its turn comes. */
  readonly body: unknown;
  readonly publicUrl: string;
}

export interface Answer {
  /** Without data: 204. */
  readonly data?: unknown;
  /** In place of data: answered one by one, as JSON Lines, as fast as the caller reads. */
  readonly lines?: AsyncIterable<unknown>;
  /** Of a list. */
  readonly next?: string | null;
  /** The path of what was created: 201. */
  readonly location?: string;
  /** The answer shows a secret and must not be kept by anything on the way. */
  readonly secret?: boolean;
  readonly replayed?: boolean;
  /** The version of the resource, for `If-Match`. */
  readonly etag?: string;
}

/** A route of the management API. It calls one verb, which checks the same permission that is declared here. */
export interface ManagedRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under `/api/public`. */
  readonly path: string;
  readonly permission: Scope;
  readonly doc: RouteDoc;
  readonly handle: (request: ManagedRequest) => Promise<Answer>;
}

/** The order of the contract: credential here, scope and resource in the verb, then idempotency, then the body. */
export async function handleManaged(services: Services, route: ManagedRoute, c: Request): Promise<Response> {
  const { incoming } = c.env;
  const { actor, workspaceId } = await authenticate(services, incoming);
  const raw = route.method === "GET" ? undefined : await readBody(incoming);
  const key = route.method === "POST" ? idempotencyKey(headerOf(incoming, "idempotency-key")) : undefined;
  const { database, sealer, runtime } = services;
  const answer = await route.handle({
    ctx: {
      actor,
      workspaceId,
      address: addressOf(incoming, services.trustProxy),
      database,
      sealer,
      operator: runtime.operator,
      runtime,
      idempotency:
        key === undefined || raw === undefined
          ? undefined
          : {
              key: key instanceof Refusal ? "" : key,
              route: `${route.method} ${c.req.path}`,
              bodyHash: key instanceof Refusal ? key : hashBody(raw),
            },
      ifMatch: entityTag(headerOf(incoming, "if-match")),
    },
    param: (name) => pathMember(c, name),
    query: c.req.query(),
    body: raw && readJson(raw, headerOf(incoming, "content-type")),
    publicUrl: services.publicUrl(),
  });
  return render(answer);
}

/** The version in `If-Match`; `*` asks for none in particular. */
function entityTag(header: string | undefined): string | undefined {
  return header === "*" ? undefined : header?.replace(/^(?:W\/)?"?(.*?)"?$/, "$1");
}

/** The body as JSON. Undefined when there is none; a refusal instead of throwing it, since other refusals come first. */
function readJson(raw: RawBody, contentType: string | undefined): unknown {
  if (raw.bytes === undefined) return raw.refusal;
  if (raw.bytes.length === 0) return undefined;
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type === undefined || !/^[^/]+\/(.+\+)?json$/.test(type)) {
    return new Refusal("unsupported_type", "The body must be JSON. Send it with Content-Type: application/json.");
  }
  try {
    return jsonOf(textOf(raw.bytes));
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
}

function render(answer: Answer): Response {
  const headers = new Headers({ "content-type": "application/json" });
  if (answer.location !== undefined) headers.set("location", answer.location);
  if (answer.secret) headers.set("cache-control", "no-store");
  if (answer.replayed) headers.set("idempotency-replayed", "true");
  if (answer.etag !== undefined) headers.set("etag", `"${answer.etag}"`);
  if (answer.lines !== undefined) {
    headers.set("content-type", "application/jsonl");
    return new Response(ReadableStream.from(asLines(answer.lines)), { status: 200, headers });
  }
  if (answer.data === undefined) {
    headers.delete("content-type");
    return new Response(null, { status: 204, headers });
  }
  const body = { ok: true, data: answer.data, ...(answer.next === undefined ? {} : { next: answer.next }) };
  return new Response(JSON.stringify(body), { status: answer.location === undefined ? 200 : 201, headers });
}

async function* asLines(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(`${JSON.stringify(value)}\n`);
}
