import { errorResponse } from "@beckon/contract";
import { version } from "../../base/version.ts";
import { accountRoutes, managedRoutes } from "../api/index.ts";
import type { ManagedRoute } from "../management/index.ts";
import { errorHeaders } from "./error-responses.ts";
import { fixedOperations } from "./fixed-operations.ts";
import { schemaOfAnswer } from "./json-schema.ts";
import { accountOperation, managedOperation } from "./managed-operation.ts";
import { resources } from "./resources.ts";

const root = "/api/public";

const about = `Agents that any system can call: wait for the answer, or fire and forget.

One resource is \`{"ok": true, "data": {…}}\`, a list \`{"ok": true, "data": […], "next": "<cursor>" | null}\`, newest first, an error
\`{"ok": false, "error": "<what went wrong and what to do>", "code": "<stable code>"}\`. Only additions are made: ignore members and values that
you do not know. A body with a member that Beckon does not know is refused.`;

const sessionScheme =
  "Of a member who is signed in; with an https PUBLIC_URL its name begins with __Secure-. A member of several workspaces names one in the header beckon-workspace or, on GET, as ?workspace=. On what changes something the Origin must be this site's. A key in the request wins.";

/** The OpenAPI 3.1 document of all routes, made of what the routes say of themselves. The same for every installation. */
export function buildDocument() {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, operations] of Object.entries(fixedOperations)) paths[path] = { ...operations };
  const add = (
    route: Pick<ManagedRoute, "method" | "path">,
    operation: Record<string, unknown>,
  ) => {
    const path = root + route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  };
  for (const route of managedRoutes) add(route, managedOperation(route));
  for (const route of accountRoutes) add(route, accountOperation(route));
  return {
    openapi: "3.1.0",
    info: {
      title: "Beckon",
      version,
      description: about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }, { session: [] }],
    tags: [
      "calls",
      "agents",
      "triggers",
      "runs",
      "providers",
      "tools",
      "keys",
      "audit",
      "workspaces",
      "members",
      "invitations",
      "account",
      "health",
    ].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "A key of the workspace or, where it may, an agent's token.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "beckon.session_token",
          description: sessionScheme,
        },
      },
      headers: errorHeaders,
      schemas: {
        Error: schemaOfAnswer(errorResponse),
        ...Object.fromEntries(resources.map(({ name, schema }) => [name, schemaOfAnswer(schema)])),
      },
    },
  };
}
export type OpenapiDocument = ReturnType<typeof buildDocument>;
