import type { ValueSchema, ValueType } from "@beckon/contract";

const scalars = ["string", "number", "integer", "boolean"] as const;

/** Returns whether the schema has one type, whose values a URL or a header can contain as text. */
export function isScalar(
  schema: ValueSchema | undefined,
): schema is ValueSchema & { readonly type: (typeof scalars)[number] } {
  return scalars.some((type) => type === schema?.type);
}

/** Maximum alternatives of one parameter. `ValueSchema` has the same limit for `anyOf`. */
const maxAlternatives = 20;

/**
 * Returns the schema of a parameter, or of its items, with one type and without null, which URLs
 * and headers cannot contain: a client omits the parameter instead. Several scalar types become a
 * string, because the value is sent as text. The type can come from the values of `enum` or
 * `const`. Returns undefined if the schema accepts nothing, or several types that are not all
 * scalar.
 * @param warn called if the result accepts values that the schema does not accept
 */
export function withOneType(
  schema: ValueSchema,
  warn: (message: string) => void,
): ValueSchema | undefined {
  const choices = alternativesOf(schema);
  if (choices.length > maxAlternatives) return undefined;
  const alternatives = choices.flatMap(byType);
  const [first] = alternatives;
  if (first === undefined) return undefined;
  if (alternatives.length === 1) return first;
  if (!alternatives.every(isScalar)) return undefined;

  const types = new Set(alternatives.map(({ type }) => type));
  if (types.has("number")) types.delete("integer");
  const [only = "string", ...more] = types;
  const type = more.length === 0 ? only : "string";
  const { title, description, default: preset } = schema;
  const labels = {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(preset === undefined ? {} : { default: type === "string" ? String(preset) : preset }),
  };
  const lists = alternatives.flatMap(({ enum: values }) => (values === undefined ? [] : [values]));
  if (lists.length === alternatives.length)
    return { type, ...labels, enum: asType(lists.flat(), type) };
  warn(`has several alternatives, of which only the type ${type} is checked`);
  return { type, ...labels };
}

/** Returns the alternatives of a schema without those that are null; the schema if it has none. */
function alternativesOf({ anyOf, ...schema }: ValueSchema): readonly ValueSchema[] {
  if (anyOf === undefined) return [schema];
  return anyOf
    .filter(({ type }) => type !== "null")
    .flatMap((choice) => alternativesOf({ ...choice, ...schema }));
}

/** Returns a schema for each type that the schema accepts, except null. */
function byType({ const: fixed, enum: choices, type, ...schema }: ValueSchema): ValueSchema[] {
  const values = fixed === undefined ? choices : [fixed as string | number | boolean];
  const inferred = Array.isArray(values) ? values.map(typeOf) : [];
  const types = new Set([type ?? inferred].flat());
  types.delete("null");
  return [...types].map((each) => ({
    ...schema,
    type: each,
    ...(values === undefined ? {} : { enum: asType(values, each) }),
  }));
}

function typeOf(value: unknown): ValueType {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}

type Values = NonNullable<ValueSchema["enum"]>;

/** Returns the values without null and, if the type is string, as texts. */
function asType(values: Values, type: ValueType): Values {
  // The document is not validated yet, so `enum` can be any value. `requireValid` rejects the
  // operation later if it is not a list of scalar values.
  if (!Array.isArray(values)) return values;
  const present = (values as Values).filter((value) => value !== null);
  const asText = (value: Values[number]) => (typeof value === "object" ? value : String(value));
  return [...new Set(type === "string" ? present.map(asText) : present)];
}
