import type { Scope } from "@beckon/contract";
import type { ByteHold } from "../../base/byte-budget.ts";
import { agentLimit, type Context } from "../../base/context.ts";
import type { Egress } from "../../base/egress/index.ts";
import type { UnparsedBody } from "../../base/parse.ts";
import type { DeliveryServices } from "../../deliveries/index.ts";
import type { EventPoller } from "../../events/index.ts";
import type { LimitServices } from "../../limits/index.ts";
import type { MappingServices } from "../../mapping/index.ts";
import type { PriceServices } from "../../prices/index.ts";
import type { ModelListServices } from "../../providers/index.ts";
import type { RunServices } from "../../runs/index.ts";
import {
  type Authenticated,
  authenticate,
  streamCredentialOf,
  workspaceOf,
} from "../authentication/index.ts";
import { basePathOf } from "../base-path.ts";
import { reportedError } from "../errors.ts";
import {
  addressOf,
  arrivesWithHeaders,
  bindKey,
  countResponse,
  countStreamed,
  headerOf,
  holdExchange,
  idempotencyKey,
  pathParameter,
  type ReadDeadline,
  type RequestContext,
  readBody,
  readDeadline,
  reportOf,
  requestIdOf,
} from "../request/index.ts";
import type { Services } from "../services.ts";
import { acceptsStream, type StreamSource } from "../streams/index.ts";
import { managedBody } from "./managed-body.ts";
import {
  type Handled,
  type JsonResult,
  type RouteResult,
  renderJson,
  renderStreamed,
  resultOf,
  type StreamedResult,
} from "./render.ts";
import { type RouteDoc, rejectRepeatedQuery, rejectUnknownQuery } from "./route-doc.ts";

/** The context of an operation, with the services that the operations of all modules need. */
export type ManagedContext = Context &
  ModelListServices &
  PriceServices &
  LimitServices &
  DeliveryServices &
  MappingServices & {
    readonly runs: RunServices;
    /** Polls the database for new events, for streams of a workspace's events. */
    readonly eventPoller: EventPoller;
    readonly egress: Egress;
  };

/** A request as handlers get it: decoded from HTTP, but not yet validated by a schema. */
export interface ManagedRequest {
  readonly ctx: ManagedContext;
  /** Returns a path parameter of the route's pattern. */
  readonly param: (name: string) => string;
  readonly query: Record<string, string>;
  readonly body: UnparsedBody;
  readonly publicUrl: string;
  /**
   * Counts the bytes of `lines` or a `file` that are in memory, as `renderStreamed` does. A handler
   * can call it before it reads them.
   */
  readonly countStreamed: (bytes: number) => void;
}

/** Returns the result of a route that responds with what the operation returns, as `data`. */
export async function dataOf(operation: Promise<unknown>): Promise<JsonResult> {
  return { data: await operation };
}

/**
 * The source of a stream's events. `agentIds` has the agents to which the stream is limited; null
 * means the whole workspace.
 */
export interface RouteStream extends StreamSource {
  readonly agentIds: readonly string[] | null;
}

/** A route of the management API. It calls one operation, which checks the route's `permission`. */
export interface ManagedRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below `/api/public`. */
  readonly path: string;
  readonly permission: Scope;
  /** A second scope that the operation also requires. Default: none. */
  readonly alsoNeeds?: Scope;
  /** The route concerns all workspaces of a member, so the request need not name one. */
  readonly anyWorkspace?: true;
  /**
   * The route changes nothing although its method is not GET. If the response to a request cannot
   * be sent, the client can therefore repeat the request.
   */
  readonly changesNothing?: true;
  /**
   * The audit log records each request of this GET route. HEAD is rejected, because its response
   * has nothing of what the record says was shown.
   */
  readonly recorded?: true;
  readonly doc: RouteDoc;
  readonly handle: (request: ManagedRequest) => Handled<RouteResult>;
  /**
   * Called instead of `handle` for a GET by a client that accepts `text/event-stream`. Returns
   * undefined if the stream has ended: the response is then 204, after which browsers do not
   * reconnect.
   */
  readonly stream?: (
    request: ManagedRequest & { readonly lastEventId: string | undefined },
  ) => Promise<RouteStream | undefined>;
}

/**
 * Handles a request to a route of the management API. Errors have a fixed order: the
 * credential is checked here, then the operation checks scope, resource, idempotency and body.
 */
export async function handleManaged(
  services: Services,
  route: ManagedRoute,
  c: RequestContext,
): Promise<Response> {
  const { incoming, outgoing } = c.env;
  const { permission, stream } = route;
  if (stream !== undefined) outgoing.setHeader("vary", "accept");
  const call = await authenticateAndRead(services, route, c);
  const wantsStream = incoming.method !== "HEAD" && acceptsStream(headerOf(incoming, "accept"));
  return stream !== undefined && wantsStream
    ? sendStream(services, { permission, stream }, call, c)
    : sendResult(services, route, call, c);
}

/** A request with a valid credential, whose body has been read. */
interface AuthenticatedRequest {
  readonly request: ManagedRequest;
  readonly authenticated: Authenticated;
  /** Values of `Set-Cookie`, which renew the session. */
  readonly cookies: readonly string[];
  /** Counts the bytes of the body and of the response against the memory budget. */
  readonly hold: ByteHold;
  /** Limits the time of the request's database reads in total. */
  readonly deadline: ReadDeadline;
}

async function authenticateAndRead(
  services: Services,
  route: ManagedRoute,
  c: RequestContext,
): Promise<AuthenticatedRequest> {
  const { incoming, outgoing } = c.env;
  const { workspace: wanted, ...others } = c.req.query();
  const id = c.req.param("workspace_id") ?? workspaceOf(incoming, wanted);
  // Read before the first query, because a socket has no address once its client has disconnected.
  const address = addressOf(incoming, services.trustedProxies);
  const arrives = arrivesWithHeaders(incoming);
  const deadline = readDeadline();
  const find = () => authenticate(services, incoming, { id, any: route.anyWorkspace });
  const found = await deadline.limit(find());
  // Only GET requests with a session can use `?workspace=`. In all others it is left in the query,
  // where it is rejected as an unknown parameter.
  const query = found.actor.kind === "user" && route.method === "GET" ? others : c.req.query();
  // Operations get only one value of each parameter, and no query if they have no parameters, so
  // they cannot detect a repeated or unknown parameter. It is rejected here: `DELETE …?dry_run=1`,
  // for example, must not delete.
  rejectRepeatedQuery(c.req.queries());
  rejectUnknownQuery(route.doc, query);
  const hold = holdExchange(services.runs.memory.exchanges, found.workspaceId, outgoing);
  const raw = route.method === "GET" ? undefined : await readBody(incoming, () => hold);
  // The credential can have been revoked while the rest of the body arrived. So it is checked
  // again.
  const authenticated =
    raw === undefined || (await arrives) ? found : await readDeadline().limit(find());
  const { actor, workspaceId } = authenticated;
  const key =
    route.method === "POST" ? idempotencyKey(headerOf(incoming, "idempotency-key")) : undefined;
  const binding = raw && bindKey(key, raw);
  const request: ManagedRequest = {
    ctx: {
      // `ManagedContext` declares which of the services operations can use.
      ...services,
      database: route.method === "GET" ? deadline.cancelLate(services.database) : services.database,
      eventPoller: services.runs.eventPoller,
      actor,
      workspaceId,
      address,
      idempotency: binding && { route: `${route.method} ${c.req.path}`, binding },
      ifMatch: entityTags(headerOf(incoming, "if-match")),
      trace: reportOf(incoming).trace,
    },
    param: (name) => pathParameter(c, name),
    query,
    body: managedBody(raw, incoming, route.doc),
    publicUrl: services.publicUrl(),
    countStreamed: countStreamed(hold, outgoing),
  };
  return { request, authenticated, cookies: found.cookies ?? [], hold, deadline };
}

/** Calls the route's handler and returns the response. */
async function sendResult(
  services: Services,
  route: ManagedRoute,
  call: AuthenticatedRequest,
  c: RequestContext,
): Promise<Response> {
  const { request, cookies, hold, deadline } = call;
  const handled = resultOf(route.handle(request));
  const result = await (route.method === "GET" ? deadline.limit(handled) : handled);
  deadline.end();
  if (result.lines !== undefined || result.file !== undefined)
    return sendLinesOrFile(services, route, call, c, result);
  const canRepeat = route.method === "GET" || route.changesNothing;
  const count = (characters: number) => {
    const done = canRepeat ? undefined : executed;
    const error = countResponse(characters, () => hold, c.env.outgoing, done);
    if (error !== undefined) throw error;
  };
  return renderJson(route.doc, { ...result, cookies }, { basePath: basePathOf(services), count });
}

/** Returns a response with lines or a file, which is sent as fast as the client reads it. */
function sendLinesOrFile(
  services: Services,
  { permission }: ManagedRoute,
  { request, authenticated, cookies }: AuthenticatedRequest,
  c: RequestContext,
  result: StreamedResult,
): Response {
  const { incoming, outgoing } = c.env;
  const { route } = reportOf(incoming);
  const requestId = requestIdOf(outgoing);
  const { log } = services;
  const logEnd = (reason: string) =>
    log.write("a response was ended early", { request_id: requestId, route, reason });
  // Sending lines or a file can take hours, during which the credential can be revoked. So it is
  // checked repeatedly.
  const credential = {
    ...streamCredentialOf(authenticated, incoming),
    workspaceId: authenticated.workspaceId,
    scope: permission,
    agentIds: agentLimit(request.ctx) ?? null,
  };
  const endChecks = services.streams.checkRepeatedly(credential, () => {
    logEnd("Its credential is no longer valid.");
    outgoing.destroy();
  });
  outgoing.once("close", endChecks);
  if (outgoing.destroyed) endChecks();
  return renderStreamed(result, {
    cookies,
    countStreamed: request.countStreamed,
    onFailure(thrown) {
      const { code, message } = reportedError(thrown, { log, route, requestId });
      // The response has begun, so the client cannot get the error. `reportedError` does not log
      // this code, so it is logged here.
      if (code === "too_large") logEnd(message);
      outgoing.destroy();
    },
  });
}

/** Opens the route's stream and returns the response, which sends its events. */
async function sendStream(
  services: Services,
  { permission, stream }: Required<Pick<ManagedRoute, "permission" | "stream">>,
  { request, authenticated, cookies, deadline }: AuthenticatedRequest,
  c: RequestContext,
): Promise<Response> {
  const { incoming } = c.env;
  const { workspaceId } = authenticated;
  const credential = {
    ...streamCredentialOf(authenticated, incoming),
    workspaceId,
    scope: permission,
  };
  const slot = services.streams.takeSlot(credential);
  try {
    const source = await deadline.limit(
      stream({ ...request, lastEventId: headerOf(incoming, "last-event-id") }),
    );
    deadline.end();
    const headers = cookies[0] === undefined ? {} : { "set-cookie": cookies[0] };
    if (source === undefined) return new Response(null, { status: 204, headers });
    return slot.respond(c, source, { ...credential, agentIds: source.agentIds }, headers);
  } finally {
    slot.release();
  }
}

const executed =
  "The request was executed, but its response is not sent. Read what it has changed with GET.";

/**
 * Returns the versions in `If-Match`, a list of entity tags (RFC 9110, section 13.1.1). Returns
 * undefined if there is no such header, or if it is `*`, which matches every version. Versions
 * without quotes are accepted. Weak entity tags are accepted although the RFC excludes them:
 * proxies that compress responses, such as nginx, replace strong entity tags by weak ones. Others,
 * such as Caddy and Apache, append the name of the compression, so the versions without it are
 * returned, too.
 */
function entityTags(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header === "*") return undefined;
  const tags = header.matchAll(/(?:W\/)?"([^"]*)"|[^",\s]+/g);
  return Array.from(tags).flatMap(([tag, quoted]) => {
    const version = quoted ?? tag;
    return [version, version.replace(/-(gzip|zstd|br|deflate)$/, "")];
  });
}
