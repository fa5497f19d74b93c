import { type CelInput, celList, celMap } from "@bufbuild/cel";

/**
 * Returns a parsed value as a value of CEL: objects are maps, integers are of type int (beyond 64
 * bits: double), other numbers are of type double. Fields of objects are converted when a filter
 * reads them, so a filter that reads two fields of a payload of 1 MiB is cheap.
 *
 * Plain objects are not passed to the evaluator, because it recognizes them by a property that a
 * payload can have (`constructor`).
 */
export function toCel(value: unknown): CelInput {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case "bigint":
      return BigInt.asIntN(64, value) === value ? value : Number(value);
    case "object":
      break;
    default:
      return null;
  }
  if (value === null) return null;
  const known = converted.get(value);
  if (known !== undefined) return known;
  const made: CelInput = Array.isArray(value)
    ? celList(value.map(toCel))
    : celMap(new ObjectMap(value as Readonly<Record<string, unknown>>));
  converted.set(value, made);
  return made;
}

/** Caches converted values, because a filter can read the same list in each iteration of a loop. */
const converted = new WeakMap<object, CelInput>();

/** An object as a map of its own properties. */
class ObjectMap implements ReadonlyMap<string, CelInput> {
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(object: Readonly<Record<string, unknown>>) {
    this.#object = object;
  }
  get size(): number {
    return Object.keys(this.#object).length;
  }
  has(key: string): boolean {
    return typeof key === "string" && Object.hasOwn(this.#object, key);
  }
  get(key: string): CelInput | undefined {
    return this.has(key) ? toCel(this.#object[key]) : undefined;
  }
  *entries(): MapIterator<[string, CelInput]> {
    for (const [key, value] of Object.entries(this.#object)) yield [key, toCel(value)];
  }
  keys(): MapIterator<string> {
    return Object.keys(this.#object)[Symbol.iterator]();
  }
  *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }
  forEach(each: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) each(value, key, this);
  }
  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }
}
