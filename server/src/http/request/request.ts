import type { IncomingMessage, ServerResponse } from "node:http";
import { isStorableText } from "@beckon/contract";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

/** Hono's request context, with Node's request and response in `env`. */
export type RequestContext = Context<{ Bindings: HttpBindings }>;

/**
 * Returns a decoded path parameter of the route's pattern. Text that PostgreSQL cannot store would
 * make the query fail. It is replaced by the empty string, with which no resource is found.
 */
export function pathParameter(c: RequestContext, name: string): string {
  const value = c.req.param(name) ?? "";
  return isStorableText(value) ? value : "";
}

/**
 * Returns a header's value; undefined if the request lacks it. Several values are joined with
 * commas, so a credential that is sent twice is invalid.
 */
export function headerOf(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Matches `192.0.2.1:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]`. */
const addressWithPort = /^(?:([\d.]+)|\[([^\]]+)\])(?::\d+)?$/;

/**
 * Returns the client's address. Each proxy appends to `X-Forwarded-For` the address that it got the
 * request from. So the address that the first of `trustedProxies` added is at this position from
 * the end, and the client can choose only those before it. If there are fewer addresses, or if
 * `trustedProxies` is 0, returns the socket's address. Some proxies, such as Azure Application
 * Gateway, add the port. It is removed, because each connection of a client has another port, and
 * limits per address must count them together.
 */
export function addressOf(incoming: IncomingMessage, trustedProxies: number): string {
  const forwarded =
    trustedProxies === 0
      ? undefined
      : headerOf(incoming, "x-forwarded-for")?.split(",").at(-trustedProxies)?.trim();
  const [, ipv4, ipv6] = addressWithPort.exec(forwarded ?? "") ?? [];
  return (ipv4 ?? ipv6 ?? (forwarded || (incoming.socket.remoteAddress ?? "unknown"))).slice(
    0,
    100,
  );
}

/**
 * Returns a signal that aborts if the client disconnects before it has the whole response, or after
 * `timeoutMs` (default: never).
 */
export function clientGoneSignal(outgoing: ServerResponse, timeoutMs?: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(clientGone);
  const timer = timeoutMs === undefined ? undefined : setTimeout(abort, timeoutMs).unref();
  outgoing.once("close", () => {
    clearTimeout(timer);
    if (!outgoing.writableFinished) abort();
  });
  if (outgoing.destroyed) abort();
  return controller.signal;
}

/** One error for all requests, because each new error would capture a stack, which takes time. */
const clientGone = new Error("the client disconnected");
