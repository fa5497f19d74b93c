import type { ValueSchema, ValueType } from "@beckon/contract";
import { isJsonObject, isRawNumber, type JsonObject } from "../../../base/json/index.ts";
import { shorten } from "../../../base/shorten.ts";
import { ToolFailure } from "../../tool.ts";

/**
 * Maximum number of checks of one value. This many checks block the process for about 50 ms. Even a
 * value of the maximum body size needs fewer checks, unless its items have many alternatives.
 */
const maxChecks = 250_000;
const maxNameLength = 100;

/**
 * Returns the first error in `value` according to `schema`, as text for the model; undefined if the
 * value is valid.
 * @throws {ToolFailure} the value needs more than `maxChecks` checks.
 */
export function schemaMismatch(schema: ValueSchema, value: unknown): string | undefined {
  return mismatchIn(schema, value, { path: "", outer: noNames, checks: new Checks() })?.();
}

/**
 * An error whose text is built only when it is needed. Most errors are in one alternative of an
 * `anyOf` of which another alternative matches, so their texts are never needed.
 */
type Mismatch = () => string;

/** The position of a value that is checked, and what its check needs from the checks around it. */
interface Position {
  /** Location of the value inside the arguments, for example `body.items[0]`. */
  readonly path: string;
  /**
   * Names of properties that the schemas around an alternative of `anyOf` define for the same
   * value. An alternative without `additionalProperties` accepts these properties, although it does
   * not define them.
   */
  readonly outer: ReadonlySet<string>;
  readonly checks: Checks;
}

const noNames: ReadonlySet<string> = new Set();

/** Counts the checks of one value. */
class Checks {
  #left = maxChecks;

  /** @throws {ToolFailure} the value needs more than `maxChecks` checks. */
  count(checks: number): void {
    this.#left -= checks;
    if (this.#left >= 0) return;
    throw new ToolFailure(
      `The values need more than ${maxChecks.toLocaleString("en")} checks. Send fewer or shorter values.`,
    );
  }
}

/** Returns the first error in `value`; undefined if it is valid. */
function mismatchIn(schema: ValueSchema, value: unknown, position: Position): Mismatch | undefined {
  const { path, checks } = position;
  const at = path === "" ? "the value" : path;
  const { anyOf, enum: choices, type } = schema;
  checks.count(1);
  if ("const" in schema && !isSame(value, schema.const, checks))
    return () => `${at} must be ${JSON.stringify(schema.const)}`;
  if (choices !== undefined && !isOneOf(value, choices, checks))
    return () => `${at} must be ${choices.map((choice) => JSON.stringify(choice)).join(" or ")}`;
  const isType = (each: ValueType) => hasType[each](value);
  if (type !== undefined && !(typeof type === "string" ? isType(type) : type.some(isType)))
    return () => `${at} must be ${describeTypes(type)}`;
  const found = anyOf && alternativesMismatch(anyOf, schema, value, position);
  if (found !== undefined)
    return () =>
      `${at} matches none of the alternatives: ${found.map((each) => each()).join("; or ")}`;
  if (typeof value === "number") return numberMismatch(schema, value, at);
  if (isRawNumber(value)) return numberMismatch(schema, Number(value.rawJSON), at);
  if (typeof value === "string") return textMismatch(schema, value, at, checks);
  if (Array.isArray(value)) return listMismatch(schema, value, at, position);
  return isJsonObject(value) ? objectMismatch(schema, value, position) : undefined;
}

/** Returns the errors in all alternatives of `schema`; undefined if the value matches one. */
function alternativesMismatch(
  anyOf: readonly ValueSchema[],
  { properties = {} }: ValueSchema,
  value: unknown,
  { path, outer, checks }: Position,
): Mismatch[] | undefined {
  const names = new Set([...outer, ...Object.keys(properties)]);
  checks.count(names.size);
  const mismatches: Mismatch[] = [];
  for (const choice of anyOf) {
    const mismatch = mismatchIn(choice, value, { path, outer: names, checks });
    if (mismatch === undefined) return undefined;
    mismatches.push(mismatch);
  }
  return mismatches;
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

function describeTypes(type: ValueType | readonly ValueType[]): string {
  const types = [type].flat();
  return types.map((each) => typeNames[each]).join(" or ");
}

/**
 * Returns whether an argument equals a value of the schema. The order of properties does not
 * matter. A raw number (an integer outside of ±2^53 with all its digits) is rounded before it is
 * compared, because schemas have no raw numbers.
 */
function isSame(one: unknown, other: unknown, checks: Checks): boolean {
  checks.count(1);
  if (isRawNumber(one)) return Number(one.rawJSON) === other;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, index) => isSame(each, other[index], checks))
    );
  if (!isJsonObject(one)) return one === other;
  if (!isJsonObject(other)) return false;
  const names = Object.keys(one);
  const { length } = Object.keys(other);
  checks.count(names.length + length);
  return (
    names.length === length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name], checks))
  );
}

type Choices = NonNullable<ValueSchema["enum"]>;

/** The values of each `enum` as a set, because a long list can have items with many choices. */
const choiceSets = new WeakMap<Choices, ReadonlySet<unknown>>();

/**
 * Returns whether an argument equals one of the values of an `enum`. These values are not objects
 * or lists.
 */
function isOneOf(value: unknown, choices: Choices, checks: Checks): boolean {
  let values = choiceSets.get(choices);
  if (values === undefined) {
    checks.count(choices.length);
    values = new Set(choices);
    choiceSets.set(choices, values);
  }
  return values.has(isRawNumber(value) ? Number(value.rawJSON) : value);
}

function numberMismatch(schema: ValueSchema, value: number, at: string): Mismatch | undefined {
  const {
    minimum = -Infinity,
    maximum = Infinity,
    exclusiveMinimum = -Infinity,
    exclusiveMaximum = Infinity,
    multipleOf,
  } = schema;
  if (value < minimum) return () => `${at} must be at least ${minimum}`;
  if (value > maximum) return () => `${at} must be at most ${maximum}`;
  if (value <= exclusiveMinimum) return () => `${at} must be above ${exclusiveMinimum}`;
  if (value >= exclusiveMaximum) return () => `${at} must be below ${exclusiveMaximum}`;
  // 0.3 must count as a multiple of 0.1, although 0.3 / 0.1 is not exactly 3. Rounding of both
  // numbers and of the quotient changes the quotient by at most 1.5 epsilon (relative), so a
  // difference of up to 4 epsilon is tolerated.
  const times = multipleOf === undefined ? 0 : value / multipleOf;
  const isBetween = Math.abs(times - Math.round(times)) > 4 * Number.EPSILON * Math.abs(times);
  return isBetween ? () => `${at} must be a multiple of ${multipleOf}` : undefined;
}

function textMismatch(
  { minLength = 0, maxLength = Infinity }: ValueSchema,
  value: string,
  at: string,
  checks: Checks,
): Mismatch | undefined {
  // A character has one or two UTF-16 units. So for most texts, `value.length` alone shows that
  // they are valid, and their characters need not be counted.
  if (value.length <= maxLength && value.length >= 2 * minLength) return undefined;
  checks.count(Math.ceil(value.length / 20));
  const length = characters(value);
  if (length < minLength) return () => `${at} must be at least ${minLength} characters`;
  return length > maxLength ? () => `${at} must be at most ${maxLength} characters` : undefined;
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
  at: string,
  { path, checks }: Position,
): Mismatch | undefined {
  if (value.length < minItems) return () => `${at} must be at least ${minItems} items`;
  if (value.length > maxItems) return () => `${at} must be at most ${maxItems} items`;
  return items === undefined
    ? undefined
    : first(value.entries(), ([index, item]) =>
        mismatchIn(items, item, { path: `${path}[${index}]`, outer: noNames, checks }),
      );
}

/**
 * Returns the first error in an object; undefined if it is valid. A property is unknown if neither
 * the schema, nor an alternative of its `anyOf`, nor a schema around it (`outer`) defines it. By
 * default, an unknown property is an error only if the schema has a `type`.
 */
function objectMismatch(
  schema: ValueSchema,
  value: JsonObject,
  { path, outer, checks }: Position,
): Mismatch | undefined {
  const {
    properties = {},
    required = [],
    additionalProperties = schema.type === undefined,
  } = schema;
  const inside = (name: string) => {
    const shown = shorten(name, maxNameLength);
    return path === "" ? shown : `${path}.${shown}`;
  };
  const check = (rule: ValueSchema, name: string, property: unknown) =>
    mismatchIn(rule, property, { path: inside(name), outer: noNames, checks });
  checks.count(required.length);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return () => `${inside(missing)} is missing`;
  const entries = Object.entries(value);
  checks.count(entries.length);
  return first(entries, ([name, property]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return check(known, name, property);
    const isOpen = schema.additionalProperties === undefined;
    if (isOpen && (outer.has(name) || isDefinedIn(schema.anyOf, name, checks))) return undefined;
    if (additionalProperties === false || name === "__proto__")
      return () => `${inside(name)} is unknown`;
    return additionalProperties === true ? undefined : check(additionalProperties, name, property);
  });
}

/**
 * Returns whether one of the alternatives in `choices` defines the property `name`, or allows it by
 * `additionalProperties`.
 */
function isDefinedIn(choices: readonly ValueSchema[] = [], name: string, checks: Checks): boolean {
  return choices.some(({ properties = {}, additionalProperties = false, anyOf }) => {
    checks.count(1);
    return (
      additionalProperties !== false ||
      Object.hasOwn(properties, name) ||
      isDefinedIn(anyOf, name, checks)
    );
  });
}

function first<T>(
  all: Iterable<T>,
  check: (each: T) => Mismatch | undefined,
): Mismatch | undefined {
  for (const each of all) {
    const found = check(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
