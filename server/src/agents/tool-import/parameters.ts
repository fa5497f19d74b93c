import { acceptsDefault, isReservedHeader, type ValueSchema } from "@beckon/contract";
import { shorten } from "../../base/shorten.ts";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import { type ImportedDocument, UnsupportedError } from "./references.ts";
import { isScalar, withOneType } from "./scalar-schema.ts";
import type { Credentials } from "./security.ts";
import { createNamer } from "./to-names.ts";
import { toValueSchema } from "./value-schema.ts";

/** The parameters of an operation, which the model fills in, and where they are sent. */
export interface Parameters {
  readonly schema: ValueSchema;
  /**
   * Names of path parameters in the tool's URL template, by their names in the OpenAPI document.
   */
  readonly path: ReadonlyMap<string, string>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyHeader: string | undefined;
}

/** The OpenAPI objects that declare parameters: a path item and one of its operations. */
export interface DeclaredParameters {
  readonly item: OpenapiNode;
  readonly node: OpenapiNode;
}

interface ReadOptions {
  readonly hasBody: boolean;
  /** Headers and query parameters that carry credentials. The model does not fill them in. */
  readonly credentials: Credentials;
  readonly warn: (message: string) => void;
}

/**
 * Converts an operation's parameters.
 * @throws UnsupportedError if a required parameter cannot be sent.
 */
export function readParameters(
  document: ImportedDocument,
  { item, node: operation }: DeclaredParameters,
  { hasBody, credentials, warn }: ReadOptions,
): Parameters {
  const nodes = [...listAt(item, "parameters"), ...listAt(operation, "parameters")].map(
    (each) => document.follow(each).node,
  );
  // A parameter of the operation overrides the path item's parameter with the same name and
  // location (path, query, header or cookie).
  const all = new Map(nodes.map((node) => [`${textAt(node, "in")} ${textAt(node, "name")}`, node]));
  const nameFor = createNamer(hasBody ? ["body"] : []);
  const isCredential = credentialCheck(credentials);
  const properties: Record<string, ValueSchema> = {};
  const required: string[] = [];
  const path = new Map<string, string>();
  const query: Record<string, string> = {};
  const headers: Record<string, string> = {};
  let idempotencyHeader: string | undefined;

  for (const node of all.values()) {
    const original = textAt(node, "name") ?? "";
    const where = textAt(node, "in") ?? "";
    if (isCredential(where, original)) continue;
    // OpenAPI ignores parameters with these names: other parts of a document describe them.
    if (where === "header" && /^(accept|content-type|authorization)$/i.test(original)) {
      // Frameworks such as FastAPI also declare a header that the server requires in this way.
      if (/^authorization$/i.test(original))
        warn(
          `parameter ${original} is left out: add the header Authorization with a secret to the tool`,
        );
      continue;
    }
    if (where === "header" && /^idempotency-key$/i.test(original)) {
      idempotencyHeader = original;
      continue;
    }
    const isRequired = where === "path" || node.required === true;
    const schema = parameterSchema(document, node, where, (message) =>
      warn(`parameter ${original}: ${message}`),
    );
    if (typeof schema === "string") {
      if (isRequired) throw new UnsupportedError(`its parameter ${original} ${schema}`);
      warn(`parameter ${original} is left out: it ${schema}`);
      continue;
    }
    const name = nameFor(original, "value");
    properties[name] = isRequired ? schema : withoutDefault(schema);
    if (isRequired) required.push(name);
    if (where === "path") path.set(original, name);
    else if (where === "query") query[original] = `{${name}}`;
    else headers[original] = `{${name}}`;
  }
  const schema: ValueSchema = {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
  };
  return { schema, path, query, headers, idempotencyHeader };
}

/**
 * Returns a function that checks whether a parameter carries a credential. The set of header names
 * is created once, because a document can have thousands of parameters and of credentials.
 */
function credentialCheck({ headers, query }: Credentials) {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return (where: string, name: string) =>
    where === "query"
      ? Object.hasOwn(query, name)
      : where === "header" && names.has(name.toLowerCase());
}

/** Returns the schema of a parameter, or the reason why it cannot be sent. */
function parameterSchema(
  document: ImportedDocument,
  node: OpenapiNode,
  where: string,
  warn: (message: string) => void,
): ValueSchema | string {
  if (!["path", "query", "header"].includes(where)) return "is a cookie";
  if (where === "header" && isReservedHeader(textAt(node, "name") ?? ""))
    return "is a header that Beckon sets";
  if (nodeAt(node, "schema") === undefined) return "has no schema of its own";
  const description = textAt(node, "description");
  const labels = description === undefined ? {} : { description: shorten(description, 1_000) };
  const schema = withOneType({ ...toValueSchema(document, node.schema, warn), ...labels }, warn);
  const parameter = toScalarOrList(schema, { node, where }, warn);
  if (typeof parameter === "string" || acceptsDefault(parameter)) return parameter;
  warn("default is left out: it is not of the parameter's type or not in its enum");
  const { default: _, ...others } = parameter;
  return others;
}

/**
 * Returns the schema with its default in the description only. A tool sends the default of an
 * argument that the model omits, but in OpenAPI it is what the server assumes if the parameter is
 * absent. Sending it can even be an error, if parameters exclude each other.
 */
function withoutDefault({ default: preset, ...schema }: ValueSchema): ValueSchema {
  if (preset === undefined) return schema;
  const hint = `Default: ${JSON.stringify(preset)}`;
  const { description } = schema;
  return { ...schema, description: description === undefined ? hint : `${description}\n\n${hint}` };
}

/**
 * Returns a schema of a string, number, boolean or list of these; or the reason why a value cannot
 * be sent.
 * @param schema a result of `withOneType`
 * @param how.node the OpenAPI object with the `style` and `explode` of arrays
 */
export function toScalarOrList(
  schema: ValueSchema | undefined,
  { node, where }: { readonly node: OpenapiNode; readonly where: string },
  warn: (message: string) => void,
): ValueSchema | string {
  if (isScalar(schema)) return schema;
  if (schema?.type !== "array") return "is not a string, number, boolean or an array of these";
  const style = textAt(node, "style") ?? (where === "query" ? "form" : "simple");
  const delimiter = where === "query" ? queryDelimiters.get(style) : "commas";
  if (where !== "query" && style !== "simple") return `is an array of the style ${style}`;
  if (delimiter !== undefined && (style !== "form" || node.explode === false)) {
    warn("is an array in one string: the model writes the whole string");
    return joinedList(schema, delimiter);
  }
  const items = withOneType(schema.items ?? { type: "string" }, warn);
  return isScalar(items)
    ? { ...schema, items }
    : "is an array whose items are not strings, numbers or booleans";
}

/** What separates the values of an array in one query parameter, by the parameter's style. */
const queryDelimiters: ReadonlyMap<string, string> = new Map([
  ["form", "commas"],
  ["spaceDelimited", "spaces"],
  ["pipeDelimited", "|"],
]);

/** Maximum allowed values of an array that its description lists. */
const maxShownValues = 20;

/** Returns the schema of an array that is sent as one string. Its description says which. */
function joinedList({ description, items }: ValueSchema, delimiter: string): ValueSchema {
  // The document is not validated yet, so `enum` can be any value.
  const values = Array.isArray(items?.enum) ? items.enum : [];
  const shown = values.slice(0, maxShownValues).map((value) => shorten(String(value), 20));
  if (shown.length < values.length) shown.push("…");
  const allowed = shown.length === 0 ? "" : `. Allowed values: ${shown.join(", ")}`;
  const hint = `Several values, separated by ${delimiter}${allowed}`;
  const text = description === undefined ? "" : `${shorten(description, 998 - hint.length)}\n\n`;
  return { type: "string", description: text + hint };
}
