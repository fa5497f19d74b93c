import { errorAnswer } from "@beckon/contract";
import { managedRoutes } from "../api/index.ts";
import { fixedOperations } from "./fixed-operations.ts";
import { schemaOfAnswer } from "./json-schema.ts";
import { managedOperation } from "./managed-operation.ts";
import { resources } from "./resources.ts";

const root = "/api/public";

const about = `Agents that any system can call: wait for the answer, or fire and forget.

One resource is \`{"ok": true, "data": {…}}\`, a list \`{"ok": true, "data": […], "next": "<cursor>" | null}\`, newest first, an error
\`{"ok": false, "error": "<what went wrong and what to do>", "code": "<stable code>"}\`. Only additions are made: ignore members and values that
you do not know. A body with a member that Beckon does not know is refused.`;

/** The OpenAPI 3.1 document of all routes, made of what the routes say of themselves. The same for every installation. */
export function buildDocument() {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, operations] of Object.entries(fixedOperations)) paths[path] = { ...operations };
  for (const route of managedRoutes) {
    const path = root + route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: managedOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Beckon", version: "0.1.0", description: about, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    tags: ["calls", "agents", "triggers", "runs", "providers", "tools", "keys", "audit", "health"].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "x-api-key", description: "A key of the workspace or, where it may, an agent's token." },
      },
      schemas: {
        Error: schemaOfAnswer(errorAnswer),
        ...Object.fromEntries(resources.map(({ name, schema }) => [name, schemaOfAnswer(schema)])),
      },
    },
  };
}
export type OpenapiDocument = ReturnType<typeof buildDocument>;
