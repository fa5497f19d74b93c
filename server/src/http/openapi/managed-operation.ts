import { z } from "zod";
import type { AccountRoute, ManagedRoute } from "../management/index.ts";
import { errorsOf, type RouteDoc } from "../management/index.ts";
import { errorResponses } from "./error-responses.ts";
import { type JsonSchema, schemaOfAnswer, schemaOfRequest } from "./json-schema.ts";
import { resources, shownSecrets } from "./resources.ts";

/** The part of the document that describes one managed route. */
export function managedOperation(route: ManagedRoute): Record<string, unknown> {
  const { permission } = route;
  return { ...operation(route, `Needs the scope \`${permission}\`.`), "x-scope": permission };
}

/** The same of a route about accounts. */
export function accountOperation(route: AccountRoute): Record<string, unknown> {
  if (route.who === "anybody") return { ...operation(route, "Needs no credential."), security: [] };
  return { ...operation(route, "Needs a session."), security: [{ session: [] }] };
}

function operation(
  route: Pick<ManagedRoute, "method" | "path" | "doc"> & { readonly who?: string },
  needs: string,
): Record<string, unknown> {
  const { path, doc, who } = route;
  return {
    operationId: doc.id,
    tags: [who === undefined ? tagOf(path) : "account"],
    summary: doc.summary,
    description: [doc.description, needs].filter(Boolean).join(" "),
    parameters: [...pathParameters(path), ...queryParameters(doc), ...headerParameters(doc)],
    ...(doc.body === undefined ? {} : { requestBody: requestBody(doc, doc.body) }),
    responses: {
      [doc.data === undefined ? 204 : doc.created ? 201 : 200]: success(doc),
      ...(doc.stream === undefined
        ? {}
        : {
            204: { description: "A stream whose end the reader has had: nothing comes any more." },
          }),
      ...errorResponses(errorsOf(route)),
    },
  };
}

const nouns = [
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
];

function tagOf(path: string): string {
  const named = path.split("/").filter((part) => nouns.includes(part));
  return named.at(-1) ?? "agents";
}

export function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: RouteDoc): JsonSchema[] {
  if (query === undefined) return [];
  const { properties = {} } = schemaOfRequest(query) as { properties?: Record<string, JsonSchema> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", schema }));
}

function headerParameters(doc: RouteDoc): JsonSchema[] {
  return [
    ...(doc.once ? [idempotencyKey] : []),
    ...(doc.stream === undefined ? [] : [lastEventId]),
    ...(doc.ifMatch
      ? [
          {
            name: "If-Match",
            in: "header",
            description: "The version that you have seen: refused if there is a newer one.",
            schema: { type: "string" },
          },
        ]
      : []),
  ];
}

export const lastEventId: JsonSchema = {
  name: "Last-Event-ID",
  in: "header",
  description: "Of a stream: goes on after this event. It wins over `after`.",
  schema: { type: "string" },
};

/** A stream's frames: `data` is the event as JSON, `event` its type, and `id`, where there is one, the cursor after it. */
export const streamContent = {
  "text/event-stream": { schema: { $ref: "#/components/schemas/StreamEvent" } },
};

export const idempotencyKey: JsonSchema = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A repeat with the same key and body gets the first one's answer, with Idempotency-Replayed: true.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
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
  if (doc.data === undefined) return { description: "Done." };
  const { schema: one, example } = shown(doc.data, doc.also);
  if (doc.lines)
    return {
      description: "One a line, newest first.",
      content: { "application/jsonl": { schema: one } },
    };
  if (doc.file) {
    const content = { schema: one, ...(example === undefined ? {} : { example }) };
    return {
      description: "A file.",
      content: { "application/json": content, "application/yaml": content },
    };
  }
  const data = doc.list ? { type: "array", items: one } : one;
  const next = doc.list
    ? {
        next: {
          type: ["string", "null"],
          description: "The `after` of the following page; null: this is the last.",
        },
      }
    : {};
  return {
    description: doc.created ? "Made." : ["Done.", doc.stream].filter(Boolean).join(" "),
    ...(doc.created ? { headers: { Location: { schema: { type: "string" } } } } : {}),
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: { ok: { const: true }, data, ...next },
          required: ["ok", "data", ...Object.keys(next)],
        },
        ...(example === undefined
          ? {}
          : {
              example: {
                ok: true,
                data: doc.list ? [example] : example,
                ...(doc.list ? { next: null } : {}),
              },
            }),
      },
      ...(doc.stream === undefined ? {} : streamContent),
    },
  };
}

function shown(
  data: z.ZodType,
  also: z.ZodObject | undefined,
): { schema: JsonSchema; example: unknown } {
  const resource = resources.find(({ schema }) => schema === data);
  const schema =
    resource === undefined
      ? schemaOfAnswer(data)
      : { $ref: `#/components/schemas/${resource.name}` };
  const secrets = (object: z.ZodType | undefined) =>
    Object.fromEntries(
      Object.keys(object instanceof z.ZodObject ? object.shape : {}).flatMap((name) =>
        name in shownSecrets ? [[name, shownSecrets[name]]] : [],
      ),
    );
  if (also === undefined) return { schema, example: resource?.example ?? secrets(data) };
  return {
    schema: { allOf: [schema, schemaOfAnswer(also)] },
    example: { ...(resource?.example as object), ...secrets(also) },
  };
}
