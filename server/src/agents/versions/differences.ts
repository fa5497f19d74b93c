import { isDeepStrictEqual } from "node:util";
import { fieldOf } from "../../base/json/index.ts";

/**
 * A location at which two JSON values differ. The property `before` is missing if the location does
 * not exist in the first value, and `after` if it does not exist in the second.
 */
export interface Difference {
  /**
   * JSON Pointer (RFC 6901), for example `/limits/max_steps`. The index of an element that was
   * compared by its key is that in the second value; that of a removed one is that in the first.
   */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Paths of the arrays whose elements are compared by their keys (`keyOf`): the tools of an agent,
 * and the functions of a tool. Otherwise all elements behind an added or removed one would differ.
 */
const keyedElements = /^\/tools(?:\/\d+\/operations)?$/;

/**
 * Returns the innermost differences between two JSON values, in the order of their fields. Arrays
 * are compared by index, except those of `keyedElements`.
 * @param path JSON Pointer of the two values. All returned paths begin with it.
 */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [old, current] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || current === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  if (Array.isArray(before) && Array.isArray(after) && keyedElements.test(path)) {
    const pairs = pairsByKey(before, after);
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
 * Returns which elements belong together: those with the same key, and those at the same index
 * whose keys are only in one of the arrays, because such an element was probably renamed. Returns
 * undefined if keys are missing or not unique, or if elements have changed their order.
 */
function pairsByKey(before: readonly unknown[], after: readonly unknown[]): Pair[] | undefined {
  const [old, current] = [indexesByKey(before), indexesByKey(after)];
  if (old === undefined || current === undefined) return undefined;
  let last = -1;
  for (const key of current.keys()) {
    const was = old.get(key) ?? last;
    if (was < last) return undefined;
    last = was;
  }
  const at = (values: readonly unknown[], index: number | undefined) =>
    index === undefined ? undefined : { index, value: values[index] };
  const keys = [...old.keys()];
  const renamed = (key: string, index: number) => {
    const was = keys[index];
    return !old.has(key) && was !== undefined && !current.has(was) ? index : undefined;
  };
  const pairs = [...current].map(
    ([key, index]): Pair => ({
      before: at(before, old.get(key) ?? renamed(key, index)),
      after: at(after, index),
    }),
  );
  const kept = new Set(pairs.map((pair) => pair.before?.index));
  const removed = [...old.values()]
    .filter((index) => !kept.has(index))
    .map((index): Pair => ({ before: at(before, index), after: undefined }));
  return [...pairs, ...removed];
}

/** Returns the index of each element by its key; undefined if keys are missing or not unique. */
function indexesByKey(values: readonly unknown[]): Map<string, number> | undefined {
  const indexes = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const key = keyOf(value);
    if (key === undefined || indexes.has(key)) return undefined;
    indexes.set(key, index);
  }
  return indexes;
}

/**
 * Returns the key of a tool or function: its name, or the type of a tool that has none, such as the
 * clock. They begin with different words, so that no name equals a type.
 */
function keyOf(value: unknown): string | undefined {
  const [name, type] = [fieldOf(value, "name"), fieldOf(value, "type")];
  if (typeof name === "string") return `name ${name}`;
  return typeof type === "string" ? `type ${type}` : undefined;
}

function entriesOf(value: unknown): Map<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}
