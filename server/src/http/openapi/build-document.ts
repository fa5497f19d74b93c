import { errorResponse } from "@beckon/contract";
import { sessionCookieName } from "../../accounts/index.ts";
import { version } from "../../base/version.ts";
import { accountRoutes, routesByTag } from "../api/index.ts";
import type { ManagedRoute } from "../management/index.ts";
import { sharedErrors } from "./error-responses.ts";
import { fixedOperations } from "./fixed-operations.ts";
import { schemaOfResponse } from "./json-schema.ts";
import { accountOperation, managedOperation } from "./managed-operation.ts";
import { sharedParameters } from "./parameters.ts";
import { resources } from "./resources.ts";
import { responseHeaders } from "./response-headers.ts";
import { webhooksOf } from "./webhooks.ts";

const root = "/api/public";

const description = `Beckon hosts AI agents that any system can call: wait for the output over REST, or POST to a trigger URL.

A resource is \`{"ok": true, "data": {…}}\`, a list \`{"ok": true, "data": […], "next": "<cursor>" | null}\`, newest first, an error \`{"ok": false, "error": "<what went wrong and what to do>", "code": "<stable code>"}\`. Versions only add: ignore fields and enum values that you do not know. A request body with an unknown field is rejected.`;

const sessionScheme =
  "The cookie of a member who is signed in. Its name starts with `__Host-` if PUBLIC_URL is https. A member of several workspaces names one in the header `beckon-workspace` or, on GET, as `?workspace=`. Requests other than GET need the Origin of this site. A key in the request takes precedence.";

/** Tags of the operations, in the order of the documentation. */
const tags = [
  {
    name: "calls",
    "x-displayName": "Invoke and fire",
    description: "Invoke an agent and wait for its output, or fire a trigger.",
  },
  {
    name: "agents",
    "x-displayName": "Agents",
    description: "Agents, their tokens and versions, export and import.",
  },
  {
    name: "triggers",
    "x-displayName": "Triggers",
    description: "Secret URLs that start a run of an agent.",
  },
  { name: "runs", "x-displayName": "Runs", description: "Runs and their events." },
  { name: "events", "x-displayName": "Events", description: "The events of a whole workspace." },
  {
    name: "subscriptions",
    "x-displayName": "Subscriptions",
    description: "Signed deliveries of events to other systems, and their log.",
  },
  {
    name: "providers",
    "x-displayName": "Providers",
    description: "Accounts at providers of models.",
  },
  { name: "prices", "x-displayName": "Prices", description: "What the calls of models cost." },
  { name: "tools", "x-displayName": "Tools", description: "Tools that let agents call HTTP APIs." },
  { name: "keys", "x-displayName": "Keys", description: "Keys of a workspace, with scopes." },
  {
    name: "usage",
    "x-displayName": "Usage",
    description: "What was used and what it cost.",
  },
  {
    name: "limits",
    "x-displayName": "Ceilings",
    description: "Daily limits of cost for the workspace, agents, keys and triggers.",
  },
  {
    name: "plans",
    "x-displayName": "Plans",
    description: "What workspaces can use per month.",
  },
  {
    name: "audit",
    "x-displayName": "Audit log",
    description: "The log of changes and reveals of secrets.",
  },
  {
    name: "workspaces",
    "x-displayName": "Workspaces",
    description: "Workspaces: each has its own agents, keys and members.",
  },
  {
    name: "members",
    "x-displayName": "Members",
    description: "The people in a workspace, with roles.",
  },
  {
    name: "invitations",
    "x-displayName": "Invitations",
    description: "One-time links to join a workspace.",
  },
  {
    name: "account",
    "x-displayName": "Account",
    description: "Sign-in, sessions and the current user.",
  },
  {
    name: "health",
    "x-displayName": "Health and documents",
    description: "Probes, and this documentation.",
  },
];

/** The URL of a server that runs on this machine with default settings. */
const defaultUrl = "http://127.0.0.1:3000";

/**
 * Builds the OpenAPI 3.1 document of all routes.
 * @param publicUrl URL at which clients reach this installation, without a trailing slash
 */
export function buildDocument(publicUrl: string = defaultUrl) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, operations] of Object.entries(fixedOperations)) paths[path] = { ...operations };
  const add = (
    route: Pick<ManagedRoute, "method" | "path">,
    operation: Record<string, unknown>,
  ) => {
    const path = root + route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  };
  for (const [tag, routes] of Object.entries(routesByTag))
    for (const route of routes) add(route, managedOperation(route, tag));
  for (const route of accountRoutes) add(route, accountOperation(route));
  return {
    openapi: "3.1.0",
    info: {
      title: "Beckon",
      version,
      description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    security: [{ key: [] }, { session: [] }],
    tags,
    paths,
    webhooks: webhooksOf(publicUrl),
    components: {
      securitySchemes: {
        key: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description:
            "A key of the workspace or, to invoke an agent and read its runs, the agent's token.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: sessionCookieName(publicUrl.startsWith("https:")),
          description: sessionScheme,
        },
      },
      headers: responseHeaders,
      responses: sharedErrors(paths),
      parameters: sharedParameters,
      schemas: {
        Error: schemaOfResponse(errorResponse),
        ...Object.fromEntries(
          resources.map(({ name, schema }) => [name, schemaOfResponse(schema)]),
        ),
      },
    },
  };
}
/** The OpenAPI document, as `buildDocument` returns it. */
export type OpenapiDocument = ReturnType<typeof buildDocument>;
