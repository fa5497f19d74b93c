import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

/** A request as Hono hands it over, with Node's own message behind it. */
export type Request = Context<{ Bindings: HttpBindings }>;

/** The value of a header that may be given once; two of them are no value we would accept. */
export function headerOf(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Who is at the other end: the socket's address or, behind a trusted proxy, the last one that proxy has added. */
export function addressOf(incoming: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? headerOf(incoming, "x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
  return forwarded || (incoming.socket.remoteAddress ?? "unknown");
}

/** Aborts when the caller goes away, or has its answer. */
export function gone(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => controller.abort());
  if (outgoing.destroyed) controller.abort();
  return controller.signal;
}
