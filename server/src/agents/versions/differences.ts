import { isDeepStrictEqual } from "node:util";

/**
 * A location at which two JSON values differ. The property `before` is missing if the location does
 * not exist in the first value, and `after` if it does not exist in the second.
 */
export interface Difference {
  /** JSON Pointer (RFC 6901), for example `/limits/max_steps`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Returns the innermost differences between two JSON values, in the order of their fields. Arrays
 * are compared by index: removing an element makes all later elements differ.
 * @param path JSON Pointer of the two values. All returned paths begin with it.
 */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [old, current] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || current === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name): Difference[] => {
    const child = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!old.has(name)) return [{ path: child, after: current.get(name) }];
    if (!current.has(name)) return [{ path: child, before: old.get(name) }];
    return differences(old.get(name), current.get(name), child);
  });
}

function entriesOf(value: unknown): Map<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}
