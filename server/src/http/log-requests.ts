import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { elapsed } from "../base/clock.ts";
import { FixedWindowCounter } from "../base/fixed-window.ts";
import { presentedKind } from "./authentication/index.ts";
import { firePath } from "./calls/index.ts";
import { addressOf, type RequestReport, reportOf, requestIdOf } from "./request/index.ts";
import type { Services } from "./services.ts";

/**
 * Methods that are labels of metrics and names of spans. Node's parser knows some 30 more, which
 * metrics count as `other`.
 */
export const commonMethods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

/** What the log needs of the services. */
type LogServices = Pick<Services, "log" | "metrics" | "auth" | "trustedProxies">;

/**
 * Maximum lines about rejected credentials per second. Further rejections are only counted, and the
 * next line contains their number. So an attacker who guesses credentials causes few of these
 * lines. The line that each request has anyway is not limited.
 */
const maxRejectionsPerSecond = 20;

/**
 * Counts each request and writes a line for it when its response, or its stream, has ended. Writes
 * another line if its credential was rejected.
 * @returns a function that writes the line of a request that Node's parser rejected
 */
export function logRequests(
  server: Server,
  services: LogServices,
): (status: number, requestId: string) => void {
  const { log, metrics } = services;
  const rejections = new FixedWindowCounter({ windowMs: 1_000, maxKeys: 1 });
  let suppressed = 0;

  function logRejection(
    incoming: IncomingMessage,
    kind: NonNullable<RequestReport["rejected"]>,
    route: string,
    requestId: string,
  ): void {
    metrics.count("beckon_credentials_rejected_total", [kind]);
    if (rejections.add("").count > maxRejectionsPerSecond) {
      suppressed++;
      return;
    }
    log.write("credential rejected", {
      kind,
      route,
      address: addressOf(incoming, services.trustedProxies),
      request_id: requestId,
      suppressed: suppressed === 0 ? undefined : suppressed,
    });
    suppressed = 0;
  }

  server.prependListener("request", (incoming, outgoing) => {
    const report = reportOf(incoming);
    outgoing.once("close", () => {
      const { route, startedAt, rejected } = report;
      const status = statusOf(report, outgoing);
      const requestId = requestIdOf(outgoing);
      const durationMs = elapsed() - startedAt;
      const { method = "" } = incoming;
      metrics.count("beckon_http_requests_total", [
        !commonMethods.has(method) ? "other" : method,
        route,
        String(status ?? "disconnected"),
      ]);
      if (!report.isStream)
        metrics.observe("beckon_http_request_duration_seconds", [route], durationMs / 1_000);
      if (log.writes("request"))
        log.write("request", {
          method,
          route,
          status,
          duration_ms: Math.round(durationMs),
          request_id: requestId,
          caller: route === firePath ? "trigger" : presentedKind(services, incoming),
          stream: report.isStream || undefined,
          disconnected:
            !outgoing.writableFinished && report.status === undefined ? true : undefined,
        });
      if (rejected !== undefined) logRejection(incoming, rejected, route, requestId);
      if (status !== undefined && status < 500) log.outages.overload.succeeded("");
    });
  });
  return (status, requestId) => {
    metrics.count("beckon_http_requests_total", ["other", "none", String(status)]);
    log.write("request", {
      method: "none",
      route: "none",
      status,
      duration_ms: 0,
      request_id: requestId,
      caller: "none",
    });
  };
}

/** Returns the status of the response; undefined if the client disconnected before it began. */
export function statusOf({ status }: RequestReport, outgoing: ServerResponse): number | undefined {
  return status ?? (outgoing.headersSent ? outgoing.statusCode : undefined);
}
