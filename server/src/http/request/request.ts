import type { IncomingMessage, ServerResponse } from "node:http";
import { isStorableText } from "@beckon/contract";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

/** A request as Hono hands it over, with Node's own message behind it. */
export type RequestContext = Context<{ Bindings: HttpBindings }>;

/**
 * A member of the path, decoded; the route's pattern says that it is there. One that cannot be stored names nothing there could be, and
 * must not reach the database: it is given as the empty name, which nothing has either.
 */
export function pathMember(c: RequestContext, name: string): string {
  const value = c.req.param(name) ?? "";
  return isStorableText(value) ? value : "";
}

/** The value of a header that may be given once; two of them are no value we would accept. */
export function headerOf(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Who is at the other end: the socket's address or, behind a trusted proxy, the last one that proxy has added. */
export function addressOf(incoming: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? headerOf(incoming, "x-forwarded-for")?.split(",").at(-1)?.trim()
    : undefined;
  return (forwarded || (incoming.socket.remoteAddress ?? "unknown")).slice(0, 100);
}

/**
 * Aborts when the client disconnects before it has its response, or after `timeoutMs` (default:
 * never).
 */
export function clientGoneSignal(outgoing: ServerResponse, timeoutMs?: number): AbortSignal {
  const controller = new AbortController();
  const leave = () => controller.abort(callerLeft);
  const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs).unref();
  outgoing.once("close", () => {
    clearTimeout(timer);
    if (!outgoing.writableFinished) leave();
  });
  if (outgoing.destroyed) leave();
  return controller.signal;
}

/** One for all: an error of its own for each would cost a stack. */
const callerLeft = new Error("the caller went away");
