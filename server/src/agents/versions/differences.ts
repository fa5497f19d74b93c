import { isDeepStrictEqual } from "node:util";

/**
 * A location at which two JSON values differ. The property `before` is missing if the location does
 * not exist in the first value, and `after` if it does not exist in the second.
 */
export interface Difference {
  /**
   * JSON Pointer (RFC 6901), for example `/limits/max_steps`. The index of an element that was
   * compared by its name is that in the second value; that of a removed one is that in the first.
   */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Paths of the arrays whose elements are compared by their property `name`: the tools of an agent,
 * and the functions of a tool. Otherwise all elements behind an added or removed one would differ.
 */
const namedElements = /^\/tools(?:\/\d+\/operations)?$/;

/**
 * Returns the innermost differences between two JSON values, in the order of their fields. Arrays
 * are compared by index, except those of `namedElements`.
 * @param path JSON Pointer of the two values. All returned paths begin with it.
 */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [old, current] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || current === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  if (Array.isArray(before) && Array.isArray(after) && namedElements.test(path)) {
    const pairs = pairsByName(before, after);
    if (pairs !== undefined) return pairs.flatMap((pair) => differencesOf(pair, path));
  }
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name): Difference[] => {
    const child = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!old.has(name)) return [{ path: child, after: current.get(name) }];
    if (!current.has(name)) return [{ path: child, before: old.get(name) }];
    return differences(old.get(name), current.get(name), child);
  });
}

/** An element of the first array and the one of the second with which it is compared. */
interface Pair {
  readonly before: { readonly index: number; readonly value: unknown } | undefined;
  readonly after: { readonly index: number; readonly value: unknown } | undefined;
}

function differencesOf({ before, after }: Pair, path: string): Difference[] {
  if (before !== undefined && after !== undefined)
    return differences(before.value, after.value, `${path}/${after.index}`);
  if (before !== undefined) return [{ path: `${path}/${before.index}`, before: before.value }];
  return after === undefined ? [] : [{ path: `${path}/${after.index}`, after: after.value }];
}

/**
 * Returns which elements belong together: those with the same name, and those at the same index
 * whose names are only in one of the arrays, because such an element was probably renamed. Returns
 * undefined if names are missing or not unique, or if elements have changed their order.
 */
function pairsByName(before: readonly unknown[], after: readonly unknown[]): Pair[] | undefined {
  const [old, current] = [indexesByName(before), indexesByName(after)];
  if (old === undefined || current === undefined) return undefined;
  let last = -1;
  for (const name of current.keys()) {
    const was = old.get(name) ?? last;
    if (was < last) return undefined;
    last = was;
  }
  const at = (values: readonly unknown[], index: number | undefined) =>
    index === undefined ? undefined : { index, value: values[index] };
  const names = [...old.keys()];
  const renamed = (name: string, index: number) => {
    const was = names[index];
    return !old.has(name) && was !== undefined && !current.has(was) ? index : undefined;
  };
  const pairs = [...current].map(
    ([name, index]): Pair => ({
      before: at(before, old.get(name) ?? renamed(name, index)),
      after: at(after, index),
    }),
  );
  const kept = new Set(pairs.map((pair) => pair.before?.index));
  const removed = [...old.values()]
    .filter((index) => !kept.has(index))
    .map((index): Pair => ({ before: at(before, index), after: undefined }));
  return [...pairs, ...removed];
}

/** Returns the index of each element by its name; undefined if names are missing or not unique. */
function indexesByName(values: readonly unknown[]): Map<string, number> | undefined {
  const indexes = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const name = typeof value === "object" && value !== null && "name" in value && value.name;
    if (typeof name !== "string" || indexes.has(name)) return undefined;
    indexes.set(name, index);
  }
  return indexes;
}

function entriesOf(value: unknown): Map<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}
