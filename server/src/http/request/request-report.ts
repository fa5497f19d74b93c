import type { IncomingMessage } from "node:http";
import { elapsed } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { RequestTrace } from "../../base/tracing/index.ts";

/** Kind of the credential that a request presents in its headers, whether it is valid or not. */
export type PresentedKind = "token" | "key" | "session" | "none";

/** What the code that handles a request reports for its log line, metrics and trace. */
export interface RequestReport {
  /** The request's id, which its response and its lines in the log contain. */
  readonly requestId: string;
  /** When the request's headers had arrived, as a value of `elapsed()`. */
  readonly startedAt: number;
  /** Path pattern of the route; `none` if no route matches. */
  route: string;
  isStream: boolean;
  /** Status of a response that was written to the socket without Node's response object. */
  status?: number;
  /**
   * Kind of the credential that the response rejects. It is set where the credential is checked: a
   * password or link is in the body, and headers beside it could name another kind.
   */
  rejected?: Exclude<PresentedKind, "none"> | "trigger" | "password or link";
  /** Trace of the request; undefined if traces are off. */
  trace?: RequestTrace;
}

/**
 * Returns a new request id. An id that the client sends is ignored, so that each id in the log
 * belongs to one request only.
 */
export function newRequestId(): string {
  return newId("rid");
}

/**
 * Key of the property of a request that holds its report. A WeakMap would be slower to read, and
 * the report is read several times for each request.
 */
const key = Symbol("report");

/** Returns the report of a request. The first call creates it. */
export function reportOf(incoming: IncomingMessage & { [key]?: RequestReport }): RequestReport {
  incoming[key] ??= {
    requestId: newRequestId(),
    startedAt: elapsed(),
    route: "none",
    isStream: false,
  };
  return incoming[key];
}
