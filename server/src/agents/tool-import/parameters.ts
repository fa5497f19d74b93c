import { isReservedHeader, type ValueSchema } from "@beckon/contract";
import { listAt, nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import { type ImportedDocument, Unusable } from "./references.ts";
import type { Credentials } from "./security.ts";
import { nameMaker } from "./to-names.ts";
import { toValueSchema } from "./value-schema.ts";

/** What the model may fill in of an operation, and where it goes. */
export interface Parameters {
  readonly schema: ValueSchema;
  /** Names in the path's template, by their names in the document. */
  readonly path: ReadonlyMap<string, string>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyHeader: string | undefined;
}

/** An operation, and the path that it belongs to. */
export interface Declared {
  readonly item: OpenapiNode;
  readonly node: OpenapiNode;
}

interface Reading {
  readonly hasBody: boolean;
  /** What stands there already. */
  readonly credentials: Credentials;
  readonly warn: (what: string) => void;
}

/** @throws Unusable when one that is required cannot be sent. */
export function readParameters(
  document: ImportedDocument,
  { item, node: operation }: Declared,
  { hasBody, credentials, warn }: Reading,
): Parameters {
  const nodes = [...listAt(item, "parameters"), ...listAt(operation, "parameters")].map(
    (each) => document.follow(each).node,
  );
  // One of the operation goes before the same of the path.
  const all = new Map(nodes.map((node) => [`${textAt(node, "in")} ${textAt(node, "name")}`, node]));
  const nameFor = nameMaker(hasBody ? ["body"] : []);
  const properties: Record<string, ValueSchema> = {};
  const required: string[] = [];
  const path = new Map<string, string>();
  const query: Record<string, string> = {};
  const headers: Record<string, string> = {};
  let idempotencyHeader: string | undefined;

  for (const node of all.values()) {
    const original = textAt(node, "name") ?? "";
    const where = textAt(node, "in") ?? "";
    if (where === "header" && /^(accept|content-type|authorization)$/i.test(original)) continue;
    if (isCredential(credentials, where, original)) continue;
    if (where === "header" && /^idempotency-key$/i.test(original)) {
      idempotencyHeader = original;
      continue;
    }
    const needed = where === "path" || node.required === true;
    const schema = sendable(document, node, where, (what) =>
      warn(`parameter ${original}: ${what}`),
    );
    if (typeof schema === "string") {
      if (needed) throw new Unusable(`its parameter ${original} ${schema}`);
      warn(`parameter ${original} is left out: it ${schema}`);
      continue;
    }
    const name = nameFor(original, "value");
    const description = textAt(node, "description")?.slice(0, 1_000);
    properties[name] = { ...schema, ...(description === undefined ? {} : { description }) };
    if (needed) required.push(name);
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

function isCredential({ headers, query }: Credentials, where: string, name: string): boolean {
  if (where === "query") return Object.hasOwn(query, name);
  return (
    where === "header" &&
    Object.keys(headers).some((header) => header.toLowerCase() === name.toLowerCase())
  );
}

const scalars: readonly unknown[] = ["string", "number", "integer", "boolean"];

/** The schema of a parameter, or why it cannot be sent. */
function sendable(
  document: ImportedDocument,
  node: OpenapiNode,
  where: string,
  warn: (what: string) => void,
): ValueSchema | string {
  if (!["path", "query", "header"].includes(where)) return "is a cookie";
  if (where === "header" && isReservedHeader(textAt(node, "name") ?? ""))
    return "is a header that Beckon sets";
  if (nodeAt(node, "schema") === undefined) return "has no schema of its own";
  const { type: said, const: fixed, ...schema } = toValueSchema(document, node.schema, warn);
  const types = [said ?? (schema.enum === undefined ? [] : "string")]
    .flat()
    .filter((type) => type !== "null");
  const [type] = types;
  const limited =
    schema.enum === undefined
      ? schema
      : { ...schema, enum: schema.enum.filter((choice) => choice !== null) };
  const single = fixed === undefined ? limited : { ...limited, enum: [fixed as string] };
  if (types.length === 1 && scalars.includes(type)) return { ...single, type: type as "string" };
  if (type !== "array" || types.length !== 1)
    return "is neither a text, a number, a boolean nor a list of these";
  if (where !== "query") return "is a list outside the query";
  if (
    node.explode === false ||
    ["spaceDelimited", "pipeDelimited"].includes(textAt(node, "style") ?? "")
  ) {
    warn("is a list in one text: the model is asked for the text");
    return { type: "string", description: "Several values, separated by commas" };
  }
  const { items = { type: "string" }, ...list } = schema;
  const itemType = [items.type].flat().find((each) => scalars.includes(each));
  return itemType === undefined
    ? "is a list of other things than texts and numbers"
    : { ...list, type: "array", items: { ...items, type: itemType } };
}
