import { isDeepStrictEqual } from "node:util";
import type { ValueSchema } from "@beckon/contract";
import { UnsupportedError } from "./references.ts";

/** Keywords that restrict no values. The first schema that has one describes the merged one. */
const annotations = ["title", "description", "default", "format"];

const lowerBounds = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
const upperBounds = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];

/**
 * Merges two schemas of an `allOf`, without their properties: values must match both.
 * @param warn called for a keyword of which only the value in the second schema is kept
 * @throws UnsupportedError if they have different `anyOf`
 */
export function mergeSchemas(
  one: ValueSchema,
  other: ValueSchema,
  warn: (message: string) => void,
): ValueSchema {
  const merged = new Map<string, unknown>(Object.entries(one));
  for (const [keyword, value] of Object.entries(other))
    merged.set(
      keyword,
      merged.has(keyword) ? narrower(keyword, merged.get(keyword), value, warn) : value,
    );
  return Object.fromEntries(merged);
}

/**
 * Returns the value of a keyword that restricts values as both given ones do together.
 * @throws UnsupportedError if the keyword is `anyOf`, and the given ones differ
 */
function narrower(
  keyword: string,
  one: unknown,
  other: unknown,
  warn: (message: string) => void,
): unknown {
  if (annotations.includes(keyword) || isDeepStrictEqual(one, other)) return one;
  if (keyword === "anyOf")
    throw new UnsupportedError("its allOf combines several anyOf or oneOf, which is not supported");
  if (keyword === "additionalProperties" && (one === true || other === true)) return true;
  // The document is not validated yet, so the values can be of any type.
  if (typeof one === "number" && typeof other === "number") {
    if (lowerBounds.includes(keyword)) return Math.max(one, other);
    if (upperBounds.includes(keyword)) return Math.min(one, other);
  }
  if (keyword === "enum" && Array.isArray(one) && Array.isArray(other)) {
    const values = new Set<unknown>(other);
    const common = one.filter((value) => values.has(value));
    if (common.length > 0) return common;
  }
  if (keyword === "type") {
    const [type, ...more] = commonTypes([one].flat(), [other].flat());
    if (type !== undefined) return more.length === 0 ? type : [type, ...more];
  }
  warn(`${keyword} differs between the schemas of an allOf: only that of the last one is checked`);
  return other;
}

/** Returns the types that both lists accept. A number can be an integer. */
function commonTypes(one: readonly unknown[], other: readonly unknown[]): unknown[] {
  const acceptedBy = (types: readonly unknown[]) => (type: unknown) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  return [...new Set([...one.filter(acceptedBy(other)), ...other.filter(acceptedBy(one))])];
}
