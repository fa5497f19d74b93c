import { isStorableText, pathOfRounded, roundedMessage } from "./text.ts";

/**
 * The subset of JSON Schema for tool arguments. It has keywords that all providers support and that
 * can be checked in bounded time. It has no `pattern`, because a tenant's regular expression could
 * block the process for minutes. It has no `$ref`, because the import of an OpenAPI document
 * replaces references with the schemas to which they refer. If a schema has a `type` but no
 * `additionalProperties`, only those properties are valid that the schema or an alternative of its
 * `anyOf` defines.
 */
export interface ValueSchema {
  readonly type?: ValueType | readonly ValueType[];
  readonly title?: string;
  readonly description?: string;
  /** The format of the value. The model gets it, and Beckon does not check it. */
  readonly format?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: ValueSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
  readonly anyOf?: readonly ValueSchema[];
}

/** JSON Schema types of tool arguments. */
export const valueTypes = [
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
  "null",
] as const;
/** A JSON Schema type of tool arguments. */
export type ValueType = (typeof valueTypes)[number];

const schemaLimits = { levels: 12, characters: 32_768, properties: 100, enumValues: 500 };

export interface SchemaMistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns the first reason why `value` is not a valid `ValueSchema`, or undefined if it is. */
export function schemaMistake(value: unknown): SchemaMistake | undefined {
  const found = mistakeIn(value, [], schemaLimits.levels);
  if (found !== undefined) return found;
  const { length } = JSON.stringify(value);
  return length > schemaLimits.characters
    ? mistake([], `must be at most ${schemaLimits.characters} characters as JSON`)
    : undefined;
}

type Path = readonly (string | number)[];
const mistake = (path: Path, message: string): SchemaMistake => ({ path, message });
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mistakeIn(value: unknown, path: Path, levels: number): SchemaMistake | undefined {
  if (!isObject(value)) return mistake(path, "must be a JSON Schema, an object");
  if (levels === 0) return mistake(path, `is nested deeper than ${schemaLimits.levels} levels`);
  for (const [keyword, given] of Object.entries(value)) {
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (check === undefined)
      return mistake(
        [...path, keyword],
        unsupported.get(keyword) ?? "is not supported in a tool's schema",
      );
    const found = check(given, [...path, keyword], levels - 1);
    if (found !== undefined) return found;
  }
  if (!["type", "enum", "const", "anyOf"].some((keyword) => keyword in value))
    return mistake(path, "must have a type");
  const names = isObject(value.properties) ? Object.keys(value.properties) : [];
  const stray = (value.required as readonly string[] | undefined)?.find(
    (name) => !names.includes(name),
  );
  return stray === undefined
    ? undefined
    : mistake([...path, "required"], `lists ${JSON.stringify(stray)}, which is not in properties`);
}

const unsupported: ReadonlyMap<string, string> = new Map([
  [
    "pattern",
    "is not supported: use description, and limit the value with enum, minLength or maxLength",
  ],
  ["$ref", "is not supported: write the schema inline, or import it from an OpenAPI document"],
  ["oneOf", "is not supported: use anyOf"],
  ["allOf", "is not supported: merge the properties into one schema"],
  ["nullable", 'is not supported: add "null" to the type'],
]);

type Check = (given: unknown, path: Path, levels: number) => SchemaMistake | undefined;
const rule =
  (holds: (given: unknown) => boolean, message: string): Check =>
  (given, path) =>
    holds(given) ? undefined : mistake(path, message);

const isText = (max: number) => (given: unknown) =>
  typeof given === "string" && given.length <= max && isStorableText(given);
const isScalar = (given: unknown) =>
  given === null || typeof given === "boolean" || typeof given === "number" || isText(1_000)(given);
// `JSON.parse` reads 1e999 as `Infinity`, which would be stored as null.
const number = rule(Number.isFinite, "must be a finite number");
const count = rule(
  (given) => Number.isInteger(given) && Number(given) >= 0,
  "must be a whole number, 0 or more",
);
/** Returns a check that also rejects rounded integers, which Beckon or the model would send. */
const exact =
  (check: Check): Check =>
  (given, path, levels) => {
    const found = check(given, path, levels);
    if (found !== undefined) return found;
    const rounded = pathOfRounded(given);
    return rounded && mistake([...path, ...rounded], roundedMessage);
  };
const anyValue = exact(
  rule(
    (given) => isPlain(given, schemaLimits.levels),
    `must be at most ${schemaLimits.levels} levels deep, without NUL or a lone surrogate`,
  ),
);
const isListOf = (given: unknown, max: number, holds: (item: unknown) => boolean) =>
  Array.isArray(given) && given.length <= max && given.every(holds);

const keywords: Readonly<Record<string, Check>> = {
  type: rule(
    (given) => {
      const types: readonly unknown[] = Array.isArray(given) ? given : [given];
      return (
        types.length > 0 &&
        new Set(types).size === types.length &&
        types.every((type) => valueTypes.includes(type as ValueType))
      );
    },
    `must be one or more of ${valueTypes.join(", ")}`,
  ),
  title: rule(isText(200), "must be a text of at most 200 characters"),
  description: rule(isText(4_000), "must be a text of at most 4,000 characters"),
  format: rule(isText(100), "must be a text of at most 100 characters"),
  enum: exact(
    rule(
      (given) =>
        isListOf(given, schemaLimits.enumValues, isScalar) && (given as unknown[]).length > 0,
      `must be 1 to ${schemaLimits.enumValues} texts, numbers, true, false or null`,
    ),
  ),
  const: anyValue,
  default: anyValue,
  examples: exact(
    rule(
      (given) => isListOf(given, 20, (each) => isPlain(each, schemaLimits.levels)),
      "must be a list of at most 20 values",
    ),
  ),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: rule(
    (given) => Number.isFinite(given) && Number(given) > 0,
    "must be a finite number above 0",
  ),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  items: mistakeIn,
  additionalProperties: (given, path, levels) =>
    typeof given === "boolean" ? undefined : mistakeIn(given, path, levels),
  required: rule(
    (given) => isListOf(given, schemaLimits.properties, isText(200)),
    `must be a list of at most ${schemaLimits.properties} names`,
  ),
  properties: (given, path, levels) => {
    if (!isObject(given)) return mistake(path, "must be a JSON object");
    const properties = Object.entries(given);
    if (properties.length > schemaLimits.properties)
      return mistake(path, `must have at most ${schemaLimits.properties} properties`);
    for (const [name, schema] of properties) {
      if (!isText(200)(name) || name === "" || name === "__proto__")
        return mistake([...path, name], "is not a valid name");
      const found = mistakeIn(schema, [...path, name], levels);
      if (found !== undefined) return found;
    }
    return undefined;
  },
  anyOf: (given, path, levels) => {
    if (!Array.isArray(given) || given.length === 0 || given.length > 20)
      return mistake(path, "must be a list of 1 to 20 schemas");
    for (const [index, choice] of given.entries()) {
      const found = mistakeIn(choice, [...path, index], levels);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

/** Returns whether a JSON value can be stored and is nested at most `levels` deep. */
function isPlain(value: unknown, levels: number): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value !== "object" || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, member]) => isStorableText(key) && key !== "__proto__" && isPlain(member, levels - 1),
    )
  );
}
