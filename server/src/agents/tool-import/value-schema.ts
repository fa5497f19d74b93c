import { type ValueSchema, type ValueType, valueTypes } from "@beckon/contract";
import { isJsonObject } from "../../base/json/index.ts";
import { shorten } from "../../base/shorten.ts";
import { mergeSchemas } from "./merge-schemas.ts";
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
 * left out. A tool sends constants always, so the `const` of a property that is not required
 * becomes an `enum`. An object that defines no properties accepts any, as in OpenAPI. Where a
 * schema refers to one that encloses it, or is nested more than `maxDepth` levels deep, the result
 * accepts any value.
 *
 * @param warn Called with each loss of information.
 * @param trail For each enclosing schema, outermost first, the reference that led to it, or "".
 *   A reference that is already in the list is recursive.
 * @throws UnsupportedError if a reference cannot be followed, if schemas of `allOf` cannot be
 *   merged, or if a schema has `anyOf` and `oneOf`.
 */
export function toValueSchema(
  document: ImportedDocument,
  value: unknown,
  warn: (message: string) => void,
  trail: readonly string[] = [],
): ValueSchema {
  const defined = new Map<string, DefinedProperty>();
  const required = new Set<string>();
  const schema = readSchema(document, value, { warn, trail, defined, required });
  const properties = Object.fromEntries(
    [...defined].flatMap(([name, { schemas, trail: enclosing }]) => {
      if (schemas.size === 0) return [];
      const merged = schemas.size === 1 ? [...schemas][0] : { allOf: [...schemas] };
      const property = toValueSchema(document, merged, warn, enclosing);
      return [[name, required.has(name) ? property : withoutConstants(property)] as const];
    }),
  );
  const missing = [...required].filter((name) => !defined.has(name));
  if (missing.length > 0)
    warn(
      `required is not checked for properties that the schema does not define: ${some(missing)}`,
    );
  // An object whose properties are all `readOnly` stays closed.
  const isFreeForm =
    defined.size === 0 &&
    [schema.type].flat().includes("object") &&
    !["enum", "const", "anyOf", "additionalProperties"].some((keyword) => keyword in schema);
  const completed = {
    ...schema,
    ...(defined.size === 0
      ? {}
      : {
          properties,
          required: [...required].filter((name) => Object.hasOwn(properties, name)),
        }),
    ...(isFreeForm ? { additionalProperties: true } : {}),
  };
  return ["type", "enum", "const", "anyOf"].some((keyword) => keyword in completed)
    ? completed
    : { ...anyValue, ...completed };
}

/**
 * Returns a schema of the same values that is neither a constant nor an object of nothing but
 * constants. The model fills it in, and can omit it.
 */
function withoutConstants(schema: ValueSchema): ValueSchema {
  if ("const" in schema) {
    const { const: value, ...others } = schema;
    return { ...others, enum: [value as string | number | boolean] };
  }
  if (!isConstant(schema)) return schema;
  const properties = Object.entries(schema.properties ?? {});
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([name, property]) => [name, withoutConstants(property)]),
    ),
  };
}

function isConstant(schema: ValueSchema): boolean {
  const properties = Object.values(schema.properties ?? {});
  return "const" in schema || (properties.length > 0 && properties.every(isConstant));
}

/** Returns the first of the names as text. */
function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => shorten(name, 60));
  return shown.join(", ") + (names.length > shown.length ? " and others" : "");
}

interface Reading {
  readonly warn: (message: string) => void;
  readonly trail: readonly string[];
  /** Collects the properties by name. */
  readonly defined: Map<string, DefinedProperty>;
  readonly required: Set<string>;
}

/** A property of an object. */
interface DefinedProperty {
  /** Its unconverted schemas: none if it is `readOnly`, several if those of `allOf` define it. */
  readonly schemas: Set<unknown>;
  /** As for `toValueSchema`, of the first schema. */
  readonly trail: readonly string[];
}

/**
 * Converts a schema and merges its `allOf`. A schema in an `allOf` can require or narrow properties
 * that another one defines, so `properties` and `required` are not converted but collected for all
 * of them. A schema that has only constraints gets no type, so that it does not change which values
 * the others accept.
 */
function readSchema(document: ImportedDocument, value: unknown, reading: Reading): ValueSchema {
  if (value === true || (isJsonObject(value) && Object.keys(value).length === 0)) return {};
  const { warn, trail, defined, required } = reading;
  const { node, reference } = document.follow(value);
  if (trail.length > maxDepth || (reference !== undefined && trail.includes(reference))) {
    warn(
      `${reference ?? "a schema"} is nested too deeply or recursive: it accepts any value there`,
    );
    return anyValue;
  }
  const inside = [...trail, reference ?? ""];
  const convertChild = (child: unknown) => toValueSchema(document, child, warn, inside);
  for (const keyword of droppedKeywords) if (keyword in node) warn(`${keyword} is not checked`);
  if (isLarge(node.const)) warn("const is not checked: it is no number, boolean or short text");

  const present = copiedKeywords.filter(
    (keyword) => keyword in node && !(smallOnly.includes(keyword) && isLarge(node[keyword])),
  );
  const schema: Record<string, unknown> = Object.fromEntries(
    present.map((keyword) => [keyword, node[keyword]]),
  );
  // A tool with such a default is rejected. The default is often only the largest 64-bit integer.
  if (Number.isInteger(schema.default) && !Number.isSafeInteger(schema.default)) {
    warn("default is left out: it is an integer beyond ±9,007,199,254,740,991");
    delete schema.default;
  }
  if (typeof schema.description === "string")
    schema.description = shorten(schema.description, 1_000);
  if (typeof schema.title === "string") schema.title = shorten(schema.title, 200);
  Object.assign(schema, bounds(node));
  for (const bound of ["minimum", "maximum"]) if (schema[bound] === undefined) delete schema[bound];
  if (isJsonObject(node.items)) schema.items = convertChild(node.items);
  if (isJsonObject(schema.additionalProperties))
    schema.additionalProperties = convertChild(schema.additionalProperties);
  // Which names match the patterns is not checked, so all names are accepted.
  if ("patternProperties" in node) schema.additionalProperties = true;
  for (const [name, property] of Object.entries(nodeAt(node, "properties") ?? {})) {
    const known = defined.get(name) ?? { schemas: new Set(), trail: inside };
    if (document.follow(property).node.readOnly !== true) known.schemas.add(property);
    defined.set(name, known);
  }
  for (const name of listAt(node, "required")) if (typeof name === "string") required.add(name);
  const [anyOf, oneOf] = [listAt(node, "anyOf"), listAt(node, "oneOf")];
  if (anyOf.length > 0 && oneOf.length > 0)
    throw new UnsupportedError(
      "one of its schemas has both anyOf and oneOf, which is not supported",
    );
  const choices = [...anyOf, ...oneOf];
  if (choices.length > 0) schema.anyOf = choices.map(convertChild);
  const types = typesOf(node, schema);
  if (types.length > 0) schema.type = types.length === 1 ? types[0] : types;

  const parts = listAt(node, "allOf");
  if (parts.length > maxMerged)
    throw new UnsupportedError(`its allOf has more than ${maxMerged} schemas`);
  const merged = parts
    .map((part) => readSchema(document, part, { ...reading, trail: inside }))
    .reduce((one, other) => mergeSchemas(one, other, warn), schema as ValueSchema);
  return node.nullable === true ? withNull(merged) : merged;
}

function isLarge(value: unknown): boolean {
  return typeof value === "string" ? value.length > maxTextCharacters : typeof value === "object";
}

/** Accepts any JSON value. */
const anyValue: ValueSchema = {
  type: valueTypes.filter((type) => type !== "integer"),
  additionalProperties: true,
};

function typesOf(node: OpenapiNode, schema: OpenapiNode): ValueType[] {
  const present = [node.type]
    .flat()
    .filter((type) => valueTypes.includes(type as ValueType)) as ValueType[];
  if (present.length > 0) return present;
  if (nodeAt(node, "properties") !== undefined) return ["object"];
  return "items" in schema ? ["array"] : [];
}

/** Returns the schema with null as a further value. A schema without a type accepts it already. */
function withNull(schema: ValueSchema): ValueSchema {
  const { type, enum: choices, anyOf } = schema;
  const nullable: Record<string, unknown> = { ...schema };
  if (type !== undefined) nullable.type = [...new Set([type, "null"].flat())];
  // The document is not validated yet, so `enum` can be any value.
  if (Array.isArray(choices)) nullable.enum = [...new Set([...choices, null])];
  if (anyOf !== undefined) nullable.anyOf = [...anyOf, { type: "null" }];
  return nullable;
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
