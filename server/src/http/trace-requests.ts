import type { Server } from "node:http";
import { commonMethods, statusOf } from "./log-requests.ts";
import { headerOf, reportOf, requestIdOf } from "./request/index.ts";
import type { Services } from "./services.ts";

/** Paths without spans, because probes request them every few seconds. */
const untraced: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/**
 * Makes a span for each request, from its headers to the end of its response or stream. The span
 * contains the route's path pattern and not the path, because the path of a trigger contains the
 * trigger's secret.
 */
export function traceRequests(
  server: Server,
  { tracing, publicUrl }: Pick<Services, "tracing" | "publicUrl">,
): void {
  if (tracing === undefined) return;
  server.prependListener("request", (incoming, outgoing) => {
    if (untraced.has(incoming.url ?? "")) return;
    const report = reportOf(incoming);
    const trace = tracing.request(headerOf(incoming, "traceparent"));
    report.trace = trace;
    outgoing.once("close", () => {
      const { route } = report;
      const method = commonMethods.has(incoming.method ?? "") ? incoming.method : undefined;
      const name = method ?? "HTTP";
      const status = statusOf(report, outgoing);
      trace.end(
        route === "none" ? name : `${name} ${route}`,
        {
          "http.request.method": method ?? "_OTHER",
          "http.route": route === "none" ? undefined : route,
          "http.response.status_code": status,
          "url.scheme": publicUrl().startsWith("https:") ? "https" : "http",
          "beckon.request.id": requestIdOf(outgoing),
        },
        status === undefined ? "disconnected" : status >= 500 ? String(status) : undefined,
      );
    });
  });
}
