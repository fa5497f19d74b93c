/** A JSON object of which nothing else is known. */
export type JsonObject = Record<string, unknown>;

/** Whether `value` is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The field `name` of `value`; undefined unless it is a JSON object that has one. */
export function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
