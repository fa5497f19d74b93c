import type { IncomingMessage } from "node:http";
import { elapsed } from "../../base/clock.ts";
import type { RequestTrace } from "../../base/tracing/index.ts";

/** What the code that handles a request reports for its log line, metrics and trace. */
export interface Exchange {
  /** When the request's headers had arrived, as a value of `elapsed()`. */
  readonly startedAt: number;
  /** Path pattern of the route; `none` if no route matches. */
  route: string;
  isStream: boolean;
  /** Status of a response that was written to the socket without Node's response object. */
  status?: number;
  /** Whether the response says that a credential was rejected. */
  isRejected: boolean;
  /** Trace of the request; undefined if traces are off. */
  trace?: RequestTrace;
}

/**
 * Key of the property of a request that holds its exchange. Rejected: a WeakMap, whose reads are
 * slower. The exchange is read several times for each request.
 */
const key = Symbol("exchange");

/** Returns the exchange of a request. The first call creates it. */
export function exchangeOf(incoming: IncomingMessage & { [key]?: Exchange }): Exchange {
  incoming[key] ??= { startedAt: elapsed(), route: "none", isStream: false, isRejected: false };
  return incoming[key];
}
