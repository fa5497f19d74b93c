import { type ValueSchema, type ValueType, valueTypes } from "@beckon/contract";
import { isJsonObject } from "../../base/json/index.ts";
import { shorten } from "../../base/shorten.ts";
import { listAt, nodeAt, type OpenapiNode } from "./read-document.ts";
import { type ImportedDocument, UnsupportedError } from "./references.ts";

const copiedKeywords = [
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
/**
 * Keywords whose value is copied only if it is a number, true, false or a short text. Any other
 * value could be large, and would be copied again at every reference to its schema.
 */
const smallOnly = ["const", "default"];
const maxTextCharacters = 1_000;

/** Maximum schemas in an `allOf`. The time to merge them grows with the square of their number. */
const maxMerged = 100;

/** Constraints that are not part of the tool's schema. The called server still checks them. */
const droppedKeywords = [
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

const maxDepth = 8;

/**
 * Converts a schema of OpenAPI 3.0 or 3.1 to a tool's schema: references are inlined, `nullable`
 * becomes type `null`, `oneOf` becomes `anyOf`, `allOf` is merged, and `readOnly` properties are
 * left out. Where a schema refers to one that encloses it, or is nested more than `maxDepth` levels
 * deep, the result accepts any value.
 *
 * @param warn Called with each loss of information.
 * @param trail For each enclosing schema, outermost first, the reference that led to it, or "".
 *   A reference that is already in the list is recursive.
 * @throws UnsupportedError if a reference cannot be followed, or schemas of `allOf` cannot be
 *   merged.
 */
export function toValueSchema(
  document: ImportedDocument,
  value: unknown,
  warn: (message: string) => void,
  trail: readonly string[] = [],
): ValueSchema {
  if (value === true || (isJsonObject(value) && Object.keys(value).length === 0)) return anyValue;
  const { node, reference } = document.follow(value);
  if (trail.length > maxDepth || (reference !== undefined && trail.includes(reference))) {
    warn(
      `${reference ?? "a schema"} is nested too deeply or recursive: it accepts any value there`,
    );
    return anyValue;
  }
  const convertChild = (child: unknown) =>
    toValueSchema(document, child, warn, [...trail, reference ?? ""]);
  for (const keyword of droppedKeywords) if (keyword in node) warn(`${keyword} is not checked`);

  const present = copiedKeywords.filter(
    (keyword) => keyword in node && !(smallOnly.includes(keyword) && isLarge(node[keyword])),
  );
  const schema: Record<string, unknown> = Object.fromEntries(
    present.map((keyword) => [keyword, node[keyword]]),
  );
  if (typeof schema.description === "string")
    schema.description = shorten(schema.description, 1_000);
  if (typeof schema.title === "string") schema.title = shorten(schema.title, 200);
  Object.assign(schema, bounds(node));
  for (const bound of ["minimum", "maximum"]) if (schema[bound] === undefined) delete schema[bound];
  if (isJsonObject(node.items)) schema.items = convertChild(node.items);
  if (isJsonObject(schema.additionalProperties))
    schema.additionalProperties = convertChild(schema.additionalProperties);
  const properties = nodeAt(node, "properties");
  if (properties !== undefined) {
    const writable = Object.entries(properties).filter(
      ([, property]) => document.follow(property).node.readOnly !== true,
    );
    schema.properties = Object.fromEntries(
      writable.map(([name, property]) => [name, convertChild(property)]),
    );
    const names = new Set<unknown>(writable.map(([name]) => name));
    schema.required = listAt(node, "required").filter((name) => names.has(name));
  }
  const choices = [...listAt(node, "anyOf"), ...listAt(node, "oneOf")];
  if (choices.length > 0) schema.anyOf = choices.map(convertChild);
  const types = typesOf(node, schema);
  if (types !== undefined) schema.type = types.length === 1 ? types[0] : types;
  if (Array.isArray(schema.enum) && node.nullable === true && !schema.enum.includes(null))
    schema.enum = [...schema.enum, null];

  const parts = listAt(node, "allOf");
  if (parts.length > maxMerged)
    throw new UnsupportedError(`its allOf has more than ${maxMerged} schemas`);
  const merged = parts.map(convertChild).reduce(mergeSchemas, schema as ValueSchema);
  return ["type", "enum", "const", "anyOf"].some((keyword) => keyword in merged)
    ? merged
    : { ...anyValue, ...merged };
}

function isLarge(value: unknown): boolean {
  return typeof value === "string" ? value.length > maxTextCharacters : typeof value === "object";
}

/** Accepts any JSON value. */
const anyValue: ValueSchema = {
  type: valueTypes.filter((type) => type !== "integer"),
  additionalProperties: true,
};

function typesOf(node: OpenapiNode, schema: OpenapiNode): ValueType[] | undefined {
  const present = [node.type]
    .flat()
    .filter((type) => valueTypes.includes(type as ValueType)) as ValueType[];
  const types: ValueType[] =
    present.length > 0
      ? present
      : "properties" in schema
        ? ["object"]
        : "items" in schema
          ? ["array"]
          : [];
  if (types.length === 0) return undefined;
  return node.nullable === true && !types.includes("null") ? [...types, "null"] : types;
}

/**
 * Returns the exclusive bounds as numbers. In OpenAPI 3.0 they are booleans that make `minimum` and
 * `maximum` exclusive.
 */
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

function mergeSchemas(one: ValueSchema, other: ValueSchema): ValueSchema {
  if (one.anyOf !== undefined && other.anyOf !== undefined)
    throw new UnsupportedError("its allOf combines several anyOf or oneOf, which is not supported");
  const isOpen = [one, other].some(
    ({ type, additionalProperties }) => type !== undefined && additionalProperties === true,
  );
  const merged: Record<string, unknown> = { ...other, ...one };
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  if (one.properties !== undefined || other.properties !== undefined)
    merged.properties = { ...other.properties, ...one.properties };
  if (required.length > 0) merged.required = required;
  if (isOpen) merged.additionalProperties = true;
  return merged;
}
