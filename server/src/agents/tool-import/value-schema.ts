import { type ValueSchema, type ValueType, valueTypes } from "@beckon/contract";
import { isJsonObject } from "../../base/json-object.ts";
import { listAt, nodeAt, type OpenapiNode } from "./read-document.ts";
import { type ImportedDocument, Unusable } from "./references.ts";

const copied = [
  ...[
    "title",
    "description",
    "format",
    "enum",
    "const",
    "default",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
  ],
  ...["minimum", "maximum", "multipleOf", "additionalProperties"],
];
/** Of these scalars only: what a default is made of may be as large as the document, and stand at every reference to it. */
const scalarOnly = ["const", "default"];

/** Constraints that the server checks for itself: the model is not told of them. */
const dropped = [
  ...[
    "pattern",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "contains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
  ],
  ...["prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedProperties"],
];

const deepest = 8;

/**
 * A schema of OpenAPI 3.0 or 3.1 as tools take it: references written out, `nullable` and `oneOf` in today's words, `allOf` put
 * together, members that only the server writes left out. What refers to itself is cut where it begins anew.
 *
 * @param warn is told what was lost.
 * @throws Unusable
 */
export function toValueSchema(
  document: ImportedDocument,
  value: unknown,
  warn: (what: string) => void,
  trail: readonly string[] = [],
): ValueSchema {
  if (value === true || (isJsonObject(value) && Object.keys(value).length === 0)) return anything;
  const { node, reference } = document.follow(value);
  if (trail.length > deepest || (reference !== undefined && trail.includes(reference))) {
    warn(`${reference ?? "a schema"} is nested too deep or refers to itself: it is cut`);
    return anything;
  }
  const inside = (child: unknown) =>
    toValueSchema(document, child, warn, [...trail, reference ?? ""]);
  for (const keyword of dropped) if (keyword in node) warn(`${keyword} is not checked`);

  const said = copied.filter(
    (keyword) =>
      keyword in node && !(scalarOnly.includes(keyword) && typeof node[keyword] === "object"),
  );
  const schema: Record<string, unknown> = Object.fromEntries(
    said.map((keyword) => [keyword, node[keyword]]),
  );
  if (typeof schema.description === "string")
    schema.description = schema.description.slice(0, 1_000);
  if (typeof schema.title === "string") schema.title = schema.title.slice(0, 200);
  Object.assign(schema, bounds(node));
  for (const flagged of ["minimum", "maximum"])
    if (schema[flagged] === undefined) delete schema[flagged];
  if (isJsonObject(node.items)) schema.items = inside(node.items);
  if (isJsonObject(schema.additionalProperties))
    schema.additionalProperties = inside(schema.additionalProperties);
  const properties = nodeAt(node, "properties");
  if (properties !== undefined) {
    const written = Object.entries(properties).filter(
      ([, member]) => document.follow(member).node.readOnly !== true,
    );
    schema.properties = Object.fromEntries(written.map(([name, member]) => [name, inside(member)]));
    const names = new Set<unknown>(written.map(([name]) => name));
    schema.required = listAt(node, "required").filter((name) => names.has(name));
  }
  const choices = [...listAt(node, "anyOf"), ...listAt(node, "oneOf")];
  if (choices.length > 0) schema.anyOf = choices.map(inside);
  const types = typesOf(node, schema);
  if (types !== undefined) schema.type = types.length === 1 ? types[0] : types;
  if (Array.isArray(schema.enum) && node.nullable === true && !schema.enum.includes(null))
    schema.enum = [...schema.enum, null];

  const whole = listAt(node, "allOf")
    .map(inside)
    .reduce(together, schema as ValueSchema);
  return ["type", "enum", "const", "anyOf"].some((keyword) => keyword in whole)
    ? whole
    : { ...anything, ...whole };
}

/** Whatever JSON there is. */
const anything: ValueSchema = {
  type: valueTypes.filter((type) => type !== "integer"),
  additionalProperties: true,
};

function typesOf(node: OpenapiNode, schema: OpenapiNode): ValueType[] | undefined {
  const said = [node.type]
    .flat()
    .filter((type) => valueTypes.includes(type as ValueType)) as ValueType[];
  const types: ValueType[] =
    said.length > 0
      ? said
      : "properties" in schema
        ? ["object"]
        : "items" in schema
          ? ["array"]
          : [];
  if (types.length === 0) return undefined;
  return node.nullable === true && !types.includes("null") ? [...types, "null"] : types;
}

/** In 3.0 the exclusive bounds are flags beside the others. */
function bounds(node: OpenapiNode): OpenapiNode {
  const lower =
    node.exclusiveMinimum === true ? { exclusiveMinimum: node.minimum, minimum: undefined } : {};
  const upper =
    node.exclusiveMaximum === true ? { exclusiveMaximum: node.maximum, maximum: undefined } : {};
  const own = ["exclusiveMinimum", "exclusiveMaximum"]
    .filter((name) => typeof node[name] === "number")
    .map((name) => [name, node[name]]);
  return { ...Object.fromEntries(own), ...lower, ...upper };
}

function together(one: ValueSchema, other: ValueSchema): ValueSchema {
  if (one.anyOf !== undefined && other.anyOf !== undefined)
    throw new Unusable("its allOf puts choices together, which is not supported");
  const open = [one, other].some(
    ({ type, additionalProperties }) => type !== undefined && additionalProperties === true,
  );
  const merged: Record<string, unknown> = { ...other, ...one };
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  if (one.properties !== undefined || other.properties !== undefined)
    merged.properties = { ...other.properties, ...one.properties };
  if (required.length > 0) merged.required = required;
  if (open) merged.additionalProperties = true;
  return merged;
}
