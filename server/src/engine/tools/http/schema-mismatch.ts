import type { ValueSchema, ValueType } from "@beckon/contract";
import { isJsonObject, isRawNumber, type JsonObject } from "../../../base/json/index.ts";

/**
 * Returns the first error in `value` according to `schema`, as text for the model; undefined if the
 * value is valid.
 *
 * @param path location of `value` inside the arguments, for example `body.items[0]`.
 * @param outer names of the properties of `value` that the schemas around an alternative of `anyOf`
 *   define. The alternative need not repeat them.
 */
export function schemaMismatch(
  schema: ValueSchema,
  value: unknown,
  path = "",
  outer: readonly string[] = [],
): string | undefined {
  const at = path === "" ? "the value" : path;
  if ("const" in schema && !isSame(value, schema.const))
    return `${at} must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.some((choice) => isSame(value, choice))) {
    return `${at} must be ${schema.enum.map((choice) => JSON.stringify(choice)).join(" or ")}`;
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType[type](value)))
    return `${at} must be ${types.map((type) => typeNames[type]).join(" or ")}`;
  if (schema.anyOf !== undefined) {
    const names = [...outer, ...Object.keys(schema.properties ?? {})];
    const mismatches = schema.anyOf.map((choice) => schemaMismatch(choice, value, path, names));
    if (!mismatches.includes(undefined))
      return `${at} matches none of the alternatives: ${mismatches.join("; or ")}`;
  }
  if (typeof value === "number") return numberMismatch(schema, value, at);
  if (isRawNumber(value)) return numberMismatch(schema, Number(value.rawJSON), at);
  if (typeof value === "string") return textMismatch(schema, value, at);
  if (Array.isArray(value)) return listMismatch(schema, value, path, at);
  return isJsonObject(value) ? objectMismatch(schema, value, path, outer) : undefined;
}

const hasType: Readonly<Record<ValueType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => (typeof value === "number" && Number.isFinite(value)) || isRawNumber(value),
  integer: (value) => Number.isInteger(value) || isRawNumber(value),
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isJsonObject,
  null: (value) => value === null,
};

const typeNames: Readonly<Record<ValueType, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

/**
 * Returns whether an argument equals a value of the schema. The order of properties does not
 * matter. Schemas have no raw numbers, so a raw number is compared as it would be rounded.
 */
function isSame(one: unknown, other: unknown): boolean {
  if (isRawNumber(one)) return Number(one.rawJSON) === other;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, index) => isSame(each, other[index]))
    );
  if (!isJsonObject(one)) return one === other;
  const names = Object.keys(one);
  return (
    isJsonObject(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

function numberMismatch(schema: ValueSchema, value: number, at: string): string | undefined {
  const {
    minimum = -Infinity,
    maximum = Infinity,
    exclusiveMinimum = -Infinity,
    exclusiveMaximum = Infinity,
    multipleOf,
  } = schema;
  if (value < minimum) return `${at} must be at least ${minimum}`;
  if (value > maximum) return `${at} must be at most ${maximum}`;
  if (value <= exclusiveMinimum) return `${at} must be above ${exclusiveMinimum}`;
  if (value >= exclusiveMaximum) return `${at} must be below ${exclusiveMaximum}`;
  // 0.3 must count as a multiple of 0.1, although 0.3 / 0.1 is not exactly 3. Rounding of both
  // numbers and of the quotient changes the quotient by at most 1.5 epsilon (relative), so a
  // difference of up to 4 epsilon is tolerated.
  const times = multipleOf === undefined ? 0 : value / multipleOf;
  const isBetween = Math.abs(times - Math.round(times)) > 4 * Number.EPSILON * Math.abs(times);
  return isBetween ? `${at} must be a multiple of ${multipleOf}` : undefined;
}

function textMismatch(
  { minLength = 0, maxLength = Infinity }: ValueSchema,
  value: string,
  at: string,
): string | undefined {
  const length = characters(value);
  if (length < minLength) return `${at} must be at least ${minLength} characters`;
  return length > maxLength ? `${at} must be at most ${maxLength} characters` : undefined;
}

/**
 * Returns the number of Unicode code points, which JSON Schema counts (RFC 8259), and not the
 * number of UTF-16 units.
 */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function listMismatch(
  { items, minItems = 0, maxItems = Infinity }: ValueSchema,
  value: unknown[],
  path: string,
  at: string,
) {
  if (value.length < minItems) return `${at} must be at least ${minItems} items`;
  if (value.length > maxItems) return `${at} must be at most ${maxItems} items`;
  return items === undefined
    ? undefined
    : first(value.entries(), ([index, item]) => schemaMismatch(items, item, `${path}[${index}]`));
}

/**
 * Returns the first error in an object; undefined if it is valid. A property is unknown if neither
 * the schema, nor an alternative of its `anyOf`, nor `outer` defines it. Unknown properties are no
 * error if the schema has no `type`.
 */
function objectMismatch(
  schema: ValueSchema,
  value: JsonObject,
  path: string,
  outer: readonly string[],
): string | undefined {
  const {
    properties = {},
    required = [],
    additionalProperties = schema.type === undefined,
  } = schema;
  const inside = (name: string) => (path === "" ? name : `${path}.${name}`);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${inside(missing)} is missing`;
  return first(Object.entries(value), ([name, property]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return schemaMismatch(known, property, inside(name));
    const isDefined = outer.includes(name) || isDefinedIn(schema.anyOf, name);
    if (schema.additionalProperties === undefined && isDefined) return undefined;
    if (additionalProperties === false || name === "__proto__") return `${inside(name)} is unknown`;
    return additionalProperties === true
      ? undefined
      : schemaMismatch(additionalProperties, property, inside(name));
  });
}

/** Returns whether one of these alternatives of `anyOf` has a schema for the property `name`. */
function isDefinedIn(choices: readonly ValueSchema[] = [], name: string): boolean {
  return choices.some(
    ({ properties = {}, additionalProperties = false, anyOf }) =>
      additionalProperties !== false || Object.hasOwn(properties, name) || isDefinedIn(anyOf, name),
  );
}

function first<T>(all: Iterable<T>, check: (each: T) => string | undefined): string | undefined {
  for (const each of all) {
    const found = check(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
