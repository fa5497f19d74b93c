import { isJsonObject, isRawNumber, type JsonObject } from "../../../base/json/index.ts";

/**
 * Value that replaces a missing or invalid token count. It is so low that the sum is still negative
 * after the library adds other counts to it. `reportedUsage` rejects a negative sum, and the usage
 * is then estimated.
 */
const invalidCount = Number.MIN_SAFE_INTEGER;

/** Repairs fields of JSON objects in place, and records whether anything changed. */
export class Repairs {
  #changed = false;
  readonly #addedEvents: JsonObject[] = [];

  /** Whether any field has changed. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Events that must follow the repaired event in its stream. */
  get addedEvents(): readonly JsonObject[] {
    return this.#addedEvents;
  }

  /** Adds an event that follows the repaired one. Only for events of a stream. */
  addEvent(event: JsonObject): void {
    this.#addedEvents.push(event);
  }

  set(target: JsonObject, field: string, value: unknown): void {
    if (target[field] === value) return;
    target[field] = value;
    this.#changed = true;
  }

  /** Sets the fields to null, unless they are absent. */
  clear(target: JsonObject, ...fields: readonly string[]): void {
    for (const field of fields)
      if (target[field] !== undefined && target[field] !== null) this.set(target, field, null);
  }

  /**
   * Converts a number or boolean to a string, and any other value that is not a string to
   * `fallback`. An absent field stays absent if `fallback` is null.
   */
  text(target: JsonObject, field: string, fallback: string | null = null): void {
    const value = target[field];
    if (typeof value === "string" || (value === undefined && fallback === null)) return;
    const isConvertible = typeof value === "number" || typeof value === "boolean";
    const converted = isRawNumber(value) ? value.rawJSON : fallback;
    this.set(target, field, isConvertible ? String(value) : converted);
  }

  /**
   * Converts a numeric text to a number, and any other value that is not a finite number to
   * `fallback`. A field that is absent or null stays so.
   */
  number(target: JsonObject, field: string, fallback: number | null): void {
    const value = target[field];
    if (value === undefined || value === null || Number.isFinite(value) || isRawNumber(value))
      return;
    const read = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
    this.set(target, field, Number.isFinite(read) ? read : fallback);
  }

  /**
   * Repairs the token counts in the object `field`.
   * @param required names of the counts that the library needs. Missing ones are added. Unless the
   *   list is empty, a value that is not an object is replaced by an object with these counts.
   */
  usage(target: JsonObject, field: string, required: readonly string[] = []): void {
    const value = target[field];
    if (isJsonObject(value)) this.#counts(value);
    else if (required.length > 0) this.set(target, field, {});
    else if (value !== undefined) this.set(target, field, null);
    const counted = target[field];
    if (isJsonObject(counted))
      for (const name of required)
        if (typeof counted[name] !== "number") this.set(counted, name, invalidCount);
  }

  #counts(target: JsonObject, depth = 0): void {
    if (depth > 3) return;
    for (const [field, value] of Object.entries(target)) {
      if (/tokens$|tokenCount$/i.test(field)) this.number(target, field, invalidCount);
      else if (isJsonObject(value)) this.#counts(value, depth + 1);
      else if (Array.isArray(value))
        for (const each of objectsIn(value)) this.#counts(each, depth + 1);
      else if (/details$/i.test(field)) this.set(target, field, null);
    }
  }

  /**
   * Converts the field `arguments`, if it is not a text, to JSON text.
   * @param absent value of an absent field; undefined if it stays absent.
   */
  arguments(target: JsonObject, absent: string | undefined): void {
    if (typeof target.arguments === "string") return;
    if (target.arguments !== undefined && target.arguments !== null)
      this.set(target, "arguments", JSON.stringify(target.arguments));
    else if (absent !== undefined) this.set(target, "arguments", absent);
  }

  /** Converts arguments that are an object to JSON text, if an integer in them would be rounded. */
  exactArguments(target: JsonObject, field: string): void {
    if (hasRawNumber(target[field])) this.set(target, field, JSON.stringify(target[field]));
  }
}

/**
 * Returns whether `value` contains an integer that `JSON.parse` would round.
 * @param levels levels to visit. Arguments with more than 500 levels are rejected anyway.
 */
export function hasRawNumber(value: unknown, levels = 500): boolean {
  if (isRawNumber(value)) return true;
  if (typeof value !== "object" || value === null || levels === 0) return false;
  return Object.values(value).some((each) => hasRawNumber(each, levels - 1));
}

/** Returns the objects in an array; none if `value` is not an array. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
