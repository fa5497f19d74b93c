import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { ApiError } from "../base/errors.ts";
import { accountRoutes, managedRoutes } from "./api/index.ts";
import {
  createAdmittedCredentials,
  createAdmittedTriggers,
  type FireState,
  firePath,
  handleFire,
  handleFireHandshake,
  handleFireOptions,
  handleInvoke,
} from "./calls/index.ts";
import { createDashboard, pagePaths, rootFiles } from "./dashboard/index.ts";
import { createDocs } from "./docs/index.ts";
import { errorResponse } from "./errors.ts";
import { isReady } from "./health.ts";
import { handleAccount, handleManaged } from "./management/index.ts";
import { createRequestRates, fireCors } from "./receiving/index.ts";
import { type RequestContext, reportOf, requestIdOf } from "./request/index.ts";
import type { Services } from "./services.ts";

/** Prefix of all paths of the API. */
const root = "/api/public";

interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  readonly path: string;
  /** See `ManagedRoute`. */
  readonly recorded?: true | undefined;
  readonly handle: (c: RequestContext) => Response | Promise<Response>;
}

/**
 * Creates the Hono app with all routes, or with the probes only if the process is a worker. If a
 * path has routes but none for the request's method, the response is 405. The exception is the
 * handshake, a GET by which a sender of webhooks checks the URL of a trigger.
 */
export function createApp(services: Services): Hono<{ Bindings: HttpBindings }> {
  const admitted = createAdmittedCredentials(services);
  const fires: FireState = {
    triggers: createAdmittedTriggers(services),
    rates: createRequestRates(),
  };
  const dashboard = createDashboard(services.publicUrl);
  const docs = createDocs(services.publicUrl, dashboard.fonts);
  const probes: readonly Route[] = [
    { method: "GET", path: "/healthz", handle: (c) => c.json({ ok: true }) },
    {
      method: "GET",
      path: "/readyz",
      handle: async (c) =>
        (await isReady(services)) ? c.json({ ok: true }) : c.json({ ok: false }, 503),
    },
  ];
  const all: readonly Route[] = [
    {
      method: "POST",
      path: `${root}/agents/:agent_id/invoke`,
      handle: (c) => handleInvoke(services, admitted, c),
    },
    { method: "POST", path: firePath, handle: (c) => handleFire(services, fires, c) },
    { method: "OPTIONS", path: firePath, handle: (c) => handleFireOptions(services, fires, c) },
    ...managedRoutes.map(
      (route): Route => ({
        method: route.method,
        path: root + route.path,
        recorded: route.recorded,
        handle: (c) => handleManaged(services, route, c),
      }),
    ),
    ...accountRoutes.map(
      (route): Route => ({
        method: route.method,
        path: root + route.path,
        handle: (c) => handleAccount(services, route, c),
      }),
    ),
    { method: "GET", path: "/openapi.json", handle: docs.serveDocument },
    { method: "GET", path: "/docs", handle: docs.servePage },
    { method: "GET", path: "/docs/:page", handle: docs.servePage },
    ...pagePaths.map((path): Route => ({ method: "GET", path, handle: dashboard.servePage })),
    { method: "GET", path: "/assets/:file", handle: dashboard.serveAsset },
    ...rootFiles.map(
      (name): Route => ({
        method: "GET",
        path: `/${name}`,
        handle: (c) => dashboard.serveRootFile(c, name),
      }),
    ),
    ...probes,
  ];
  const routes = services.servesOnlyProbes ? probes : all;

  const app = new Hono<{ Bindings: HttpBindings }>();
  const failed = (c: Context<{ Bindings: HttpBindings }>, route: string) => ({
    log: services.log,
    route,
    requestId: requestIdOf(c.env.outgoing),
  });
  // Fixed paths are registered before patterns, so that `/agents/export` does not match
  // `/agents/:agent_id`.
  const paths = [...new Set(routes.map((route) => route.path))].sort(
    (one, other) => Number(one.includes(":")) - Number(other.includes(":")),
  );
  for (const path of paths) {
    const ofPath = routes.filter((route) => route.path === path);
    for (const { method, recorded, handle } of ofPath)
      app.on(method, path, async (c, next) => {
        // Hono passes HEAD to the handlers of GET. The next one is that of all methods, below.
        if (recorded && c.req.method === "HEAD") return next();
        reportOf(c.env.incoming).route = path;
        return handle(c);
      });
    const methods = ofPath.map((route) => route.method);
    const hasHead = ofPath.some(({ method, recorded }) => method === "GET" && !recorded);
    const allow = [...methods, ...(hasHead ? ["HEAD"] : [])].join(", ");
    app.all(path, async (c) => {
      reportOf(c.env.incoming).route = path;
      const handshake =
        path === firePath ? await handleFireHandshake(services, fires, c) : undefined;
      if (handshake !== undefined) return handshake;
      const error = new ApiError(
        "method_not_allowed",
        `This path does not support ${c.req.method}. Use ${allow}.`,
      );
      const response = errorResponse(error, failed(c, path));
      response.headers.set("allow", allow);
      if (path === firePath) allowAnyOrigin(response);
      return response;
    });
  }
  app.notFound((c) => {
    const error = new ApiError(
      "not_found",
      services.servesOnlyProbes
        ? "This server has BECKON_ROLE=worker and serves only /healthz and /readyz. " +
            "Send the request to a server with another role."
        : "There is nothing at this path. See /docs for the paths of the API.",
    );
    return errorResponse(error, failed(c, "none"));
  });
  app.onError((thrown, c) => {
    const route = c.req.routePath;
    const response = errorResponse(thrown, failed(c, route));
    if (route === firePath) allowAnyOrigin(response);
    return response;
  });
  return app;
}

/**
 * Adds CORS headers to an error response of the route that fires a trigger. Scripts of any site can
 * call this route, so they must be able to read why their request was rejected.
 */
function allowAnyOrigin(response: Response): void {
  for (const [name, value] of Object.entries(fireCors)) response.headers.set(name, value);
}
