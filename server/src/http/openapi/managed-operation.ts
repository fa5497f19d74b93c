import { z } from "zod";
import {
  type AccountRoute,
  errorsOf,
  type ManagedRoute,
  type RouteDoc,
  statusOf,
} from "../management/index.ts";
import { errorResponses } from "./error-responses.ts";
import { type JsonSchema, schemaOfRequest, schemaOfResponse } from "./json-schema.ts";
import {
  idempotencyKey,
  ifMatch,
  lastEventId,
  pathParameters,
  sessionParameters,
} from "./parameters.ts";
import { addedExamples, resources } from "./resources.ts";
import { headersOf } from "./response-headers.ts";

/** Returns the OpenAPI operation object of a route of the management API. */
export function managedOperation(route: ManagedRoute, tag: string): JsonSchema {
  const { permission, alsoNeeds, method } = route;
  return {
    ...operation(route, tag, {
      needs:
        alsoNeeds === undefined
          ? `Needs the scope \`${permission}\`.`
          : `Needs the scopes \`${permission}\` and \`${alsoNeeds}\`.`,
      parameters: sessionParameters(method),
    }),
    "x-scope": [permission, alsoNeeds].filter(Boolean).join(" "),
  };
}

/** Returns the OpenAPI operation object of a route about accounts. */
export function accountOperation(route: AccountRoute): JsonSchema {
  const { needs, security } = credentialOf(route);
  return { ...operation(route, "account", { needs, parameters: [] }), security };
}

function credentialOf(route: AccountRoute): { needs: string; security: JsonSchema[] } {
  const session = { session: [] };
  if (route.who === "signed in") return { needs: "Needs a session.", security: [session] };
  // An empty requirement makes the session optional (OpenAPI 3.1, 4.8.10).
  return route.acceptsSession
    ? { needs: "Needs no credential, or a session.", security: [{}, session] }
    : { needs: "Needs no credential.", security: [] };
}

function operation(
  route: Pick<ManagedRoute, "method" | "path" | "doc"> & { readonly who?: string },
  tag: string,
  { needs, parameters }: { readonly needs: string; readonly parameters: readonly JsonSchema[] },
): JsonSchema {
  const { path, doc } = route;
  return {
    operationId: doc.id,
    tags: [tag],
    summary: doc.summary,
    description: [doc.description, needs].filter(Boolean).join(" "),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(doc),
      ...headerParameters(doc),
      ...parameters,
    ],
    ...(doc.body === undefined ? {} : { requestBody: requestBody(doc, doc.body) }),
    responses: {
      [statusOf(doc)]: success(doc),
      ...(doc.stream === undefined
        ? {}
        : {
            204: {
              description: "The client has received the whole stream: there is nothing more.",
              headers: headersOf(),
            },
          }),
      ...errorResponses(errorsOf(route)),
    },
  };
}

function queryParameters({ query, stream }: RouteDoc): JsonSchema[] {
  if (query === undefined) return [];
  const { properties = {} } = schemaOfRequest(query) as { properties?: Record<string, JsonSchema> };
  return Object.entries(properties).map(([name, property]) => {
    const isOnlyForPages = stream !== undefined && name === "limit";
    const { description, ...schema } = isOnlyForPages ? limitOfPages(property) : property;
    return {
      name,
      in: "query",
      ...(description === undefined ? {} : { description }),
      schema,
    };
  });
}

/**
 * Moves the default of `limit` to the description. Clients that fill in the defaults of schemas
 * could otherwise not read the stream, which rejects `limit`.
 */
function limitOfPages({ default: value, ...schema }: JsonSchema): JsonSchema {
  return { ...schema, description: `Only for pages, by default ${value}. A stream rejects it.` };
}

function headerParameters(doc: RouteDoc): JsonSchema[] {
  return [
    ...(doc.once ? [idempotencyKey] : []),
    ...(doc.stream === undefined ? [] : [lastEventId]),
    ...(doc.ifMatch ? [ifMatch] : []),
  ];
}

/**
 * Media type of a stream of server-sent events. `data` is the event as JSON, `event` its type, and
 * `id`, if present, the cursor with which a reader resumes after the event.
 */
export const streamContent = {
  "text/event-stream": { schema: { $ref: "#/components/schemas/StreamEvent" } },
};

function requestBody(doc: RouteDoc, body: z.ZodType): JsonSchema {
  const example = doc.example === undefined ? {} : { example: doc.example };
  const content = { schema: schemaOfRequest(body), ...example };
  return {
    required: doc.bodyOptional !== true,
    content: { "application/json": content, ...(doc.yaml ? { "application/yaml": content } : {}) },
  };
}

function success(doc: RouteDoc): JsonSchema {
  const headers = headersOf(
    ...(doc.created ? (["Location"] as const) : []),
    ...(doc.etag ? (["ETag"] as const) : []),
    ...(doc.once ? (["IdempotencyReplayed"] as const) : []),
    ...(doc.setsCookie ? (["SetCookie"] as const) : []),
  );
  if (doc.bytes)
    return {
      description: "The file.",
      headers: { ...headers, ...headersOf("ContentDisposition") },
      content: { "*/*": { schema: {} } },
    };
  if (doc.data === undefined) return { description: "Done.", headers };
  const { schema: one, example } = resourceOf(doc, doc.data);
  const withExample = example === undefined ? {} : { example };
  if (doc.lines)
    return {
      description: "One entry per line, newest first.",
      headers,
      content: { "application/jsonl": { schema: one } },
    };
  if (doc.file) {
    const content = { schema: one, ...withExample };
    return {
      description: "A file.",
      headers,
      content: { "application/json": content, "application/yaml": content },
    };
  }
  return {
    description:
      doc.created !== undefined ? "Created." : ["Done.", doc.stream].filter(Boolean).join(" "),
    headers,
    content: {
      "application/json": doc.list ? pageOf(one, example) : envelopeOf(one, example),
      ...(doc.stream === undefined ? {} : streamContent),
      ...(doc.csv ? { "text/csv": { schema: { type: "string" } } } : {}),
    },
  };
}

function envelopeOf(data: JsonSchema, example: unknown): JsonSchema {
  return {
    schema: {
      type: "object",
      properties: { ok: { const: true }, data },
      required: ["ok", "data"],
    },
    ...(example === undefined ? {} : { example: { ok: true, data: example } }),
  };
}

function pageOf(items: JsonSchema, example: unknown): JsonSchema {
  return {
    schema: {
      type: "object",
      properties: {
        ok: { const: true },
        data: { type: "array", items },
        next: {
          type: ["string", "null"],
          description: "The `after` of the next page; null: this is the last page.",
        },
      },
      required: ["ok", "data", "next"],
    },
    ...(example === undefined ? {} : { example: { ok: true, data: [example], next: null } }),
  };
}

/**
 * Returns schema and example of a response's `data`. If `data` is a resource, the schema is a
 * reference to that resource.
 */
function resourceOf(
  { also, dataExample }: RouteDoc,
  data: z.ZodType,
): { schema: JsonSchema; example: unknown } {
  const resource = resources.find(({ schema }) => schema === data);
  const schema =
    resource === undefined
      ? schemaOfResponse(data)
      : { $ref: `#/components/schemas/${resource.name}` };
  const example = dataExample ?? resource?.example ?? addedTo(data);
  if (also === undefined) return { schema, example };
  return {
    schema: { allOf: [schema, schemaOfResponse(also)] },
    example: { ...(example as object), ...addedTo(also) },
  };
}

/** Returns the examples in `addedExamples` that are named like fields of the object. */
function addedTo(object: z.ZodType): Record<string, unknown> {
  const names = Object.keys(object instanceof z.ZodObject ? object.shape : {});
  return Object.fromEntries(
    names.flatMap((name) => (name in addedExamples ? [[name, addedExamples[name]]] : [])),
  );
}
