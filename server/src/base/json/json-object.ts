import { isRawNumber } from "./exact-integers.ts";

/** A JSON object with unknown fields. */
export type JsonObject = Record<string, unknown>;

/** Returns whether `value` is an object that is neither null nor an array, nor a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}

/**
 * Returns the field `name` of `value`; undefined if `value` is not an object or lacks the field.
 */
export function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
