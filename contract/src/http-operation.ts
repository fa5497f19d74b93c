import { namesIn, parseTemplate, parseUrlTemplate, soleName } from "./template.ts";
import type { ValueSchema, ValueType } from "./value-schema.ts";

/**
 * The fields of an operation of an `http` tool that this file validates. Values that can be secrets
 * are `unknown`, because a secret has a different form in requests, in stored configurations and in
 * exported documents.
 */
interface Operation {
  readonly method: string;
  readonly url: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly parameters: ValueSchema;
  readonly body?: ValueSchema | undefined;
  readonly body_type?: "json" | "form" | undefined;
  readonly idempotency_header?: string | undefined;
}

interface Mistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Headers that the HTTP client sets itself, or that could be used for request smuggling. */
const reserved =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|content-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*|sec-.*)$/i;

/**
 * Yields every configuration error of an operation that is detectable without calling it.
 * @param isStored whether the operation is stored. If it is, defaults are not checked.
 */
export function* operationMistakes(operation: Operation, isStored: boolean): Generator<Mistake> {
  const url = parseUrlTemplate(operation.url);
  if (typeof url === "string") return yield { path: ["url"], message: url };
  yield* parameterMistakes(operation.parameters);
  if (!isStored) yield* defaultMistakes(operation.parameters);
  const properties = operation.parameters.properties ?? {};
  const used = new Set<string>();

  // `kind` is `whole` if the template is the whole value of a query parameter or header. If such a
  // template is a single placeholder, its argument can be absent: the parameter or header is then
  // not sent.
  function* checkTemplate(
    path: readonly string[],
    template: string,
    kind: "path" | "query" | "whole",
  ): Generator<Mistake> {
    if (parseTemplate(template) === undefined) {
      return yield {
        path,
        message: "has an unmatched brace: write a literal brace as {{ or }}",
      };
    }
    const whole = kind === "whole" ? soleName(template) : undefined;
    for (const name of new Set(namesIn(template))) {
      used.add(name);
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const optional =
        schema?.default === undefined && !operation.parameters.required?.includes(name);
      if (schema === undefined)
        yield { path, message: `has the placeholder {${name}}, which is not among the parameters` };
      else if (name === whole) continue;
      else if (schema.type === "array")
        yield {
          path,
          message: `has {${name}}, a list: a list must be the whole value of a query parameter`,
        };
      else if (optional)
        yield {
          path,
          message: `has {${name}}, which can be absent: make it required or give it a default`,
        };
    }
  }

  yield* checkTemplate(["url"], url.path, "path");
  yield* checkTemplate(["url"], url.query, "query");
  for (const [name, value] of Object.entries(operation.query)) {
    if (typeof value === "string") yield* checkTemplate(["query", name], value, "whole");
  }
  yield* headerMistakes(operation);
  for (const [name, value] of Object.entries(operation.headers)) {
    if (typeof value !== "string") continue;
    yield* checkTemplate(["headers", name], value, "whole");
    const whole = soleName(value);
    if (whole !== undefined && properties[whole]?.type === "array")
      yield { path: ["headers", name], message: `has {${whole}}, a list` };
  }
  for (const name of Object.keys(properties)) {
    if (!used.has(name))
      yield {
        path: ["parameters", "properties", name],
        message: "is not used: no template has its {placeholder}",
      };
  }
  if (operation.body !== undefined && "body" in properties) {
    yield {
      path: ["parameters", "properties", "body"],
      message: "is reserved for the body: rename the parameter",
    };
  }
  if (operation.body !== undefined && (operation.method === "GET" || operation.method === "HEAD")) {
    yield { path: ["body"], message: `cannot be sent with ${operation.method}` };
  }
  if (operation.body_type === "form") {
    if (operation.body === undefined) yield { path: ["body_type"], message: "needs a body" };
    else yield* formMistakes(operation.body);
  }
}

const scalars: readonly unknown[] = [
  "string",
  "number",
  "integer",
  "boolean",
] satisfies ValueType[];

const scalarOrListMessage =
  "must have the type string, number, integer, boolean, or array of one of these";

function isScalarOrList({ type, items }: ValueSchema): boolean {
  return scalars.includes(type) || (type === "array" && scalars.includes(items?.type));
}

function* formMistakes(body: ValueSchema): Generator<Mistake> {
  const { type, properties = {}, additionalProperties = false, anyOf } = body;
  if (
    type !== "object" ||
    anyOf !== undefined ||
    additionalProperties !== false ||
    "const" in body
  ) {
    yield {
      path: ["body"],
      message:
        "must be a schema of type object without additionalProperties, anyOf or const, " +
        "because it is sent as a form",
    };
  }
  for (const [name, schema] of Object.entries(properties)) {
    const isSendable =
      "const" in schema ? scalars.includes(typeof schema.const) : isScalarOrList(schema);
    if (!isSendable) yield { path: ["body", "properties", name], message: scalarOrListMessage };
  }
}

function* parameterMistakes({
  type,
  properties = {},
  additionalProperties = false,
  anyOf,
}: ValueSchema): Generator<Mistake> {
  if (type !== "object" || anyOf !== undefined || additionalProperties !== false) {
    yield {
      path: ["parameters"],
      message: "must be a schema of type object without additionalProperties or anyOf",
    };
  }
  for (const [name, schema] of Object.entries(properties)) {
    const path = ["parameters", "properties", name];
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
      yield { path, message: "must have a name of 1 to 64 characters a-z A-Z 0-9 _ . -" };
    if (!isScalarOrList(schema)) yield { path, message: scalarOrListMessage };
    if ("const" in schema)
      yield { path, message: "cannot be const: write the fixed value into the template" };
  }
}

function* defaultMistakes({ properties = {} }: ValueSchema): Generator<Mistake> {
  for (const [name, schema] of Object.entries(properties)) {
    if (acceptsDefault(schema)) continue;
    yield {
      path: ["parameters", "properties", name, "default"],
      message: "must be of the parameter's type and, if it has an enum, one of its values",
    };
  }
}

/**
 * Returns whether a parameter's default, if it has one, is of its type and in its `enum`. Other
 * keywords, such as `maximum`, are not checked.
 */
export function acceptsDefault(parameter: ValueSchema): boolean {
  return parameter.default === undefined || hasTypeOf(parameter, parameter.default);
}

function hasTypeOf({ type, enum: choices, items = {} }: ValueSchema, value: unknown): boolean {
  // The schema is not validated yet if it is of an OpenAPI document, so `enum` can be any value.
  if (Array.isArray(choices) && !choices.includes(value)) return false;
  if (type === "array")
    return Array.isArray(value) && value.every((each) => hasTypeOf(items, each));
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

/** The media types that a body of each `body_type` can be sent with. */
export const bodyTypes = {
  json: { pattern: /^[^/{}\s]+\/([^/{}\s;]+\+)?json(;[^{}]*)?$/i, name: "a JSON media type" },
  form: {
    pattern: /^application\/x-www-form-urlencoded(;[^{}]*)?$/i,
    name: "application/x-www-form-urlencoded",
  },
};

function* headerMistakes({
  headers,
  body,
  body_type = "json",
  idempotency_header,
}: Operation): Generator<Mistake> {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const path = ["headers", name];
    if (reserved.test(name)) yield { path, message: "is set by Beckon" };
    if (seen.has(name.toLowerCase())) yield { path, message: "occurs twice" };
    seen.add(name.toLowerCase());
    if (typeof value !== "string") continue;
    if (!/^[\x20-\x7e]*$/.test(value)) yield { path, message: "must be printable ASCII" };
    if (
      name.toLowerCase() === "content-type" &&
      (body === undefined || !bodyTypes[body_type].pattern.test(value))
    ) {
      yield { path, message: `must be ${bodyTypes[body_type].name}, and needs a body` };
    }
  }
  if (
    idempotency_header !== undefined &&
    (reserved.test(idempotency_header) || seen.has(idempotency_header.toLowerCase()))
  ) {
    yield { path: ["idempotency_header"], message: "is already set" };
  }
}

/** Returns whether this header is reserved, so that a tool's configuration cannot set it. */
export function isReservedHeader(name: string): boolean {
  return reserved.test(name);
}
