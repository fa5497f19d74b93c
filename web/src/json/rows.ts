import { type Json, WrittenNumber } from "./parse.ts";

/** A visible line of the tree. */
export interface JsonRow {
  /** JSON pointer (RFC 6901), unique in the tree. */
  readonly pointer: string;
  readonly depth: number;
  /** Key or index; undefined for the root. */
  readonly name: string | undefined;
  /** True if `name` is an index of an array. */
  readonly isIndex: boolean;
  readonly value: Json;
  /** Number of entries of an object or array, undefined for other values. */
  readonly size: number | undefined;
  readonly isOpen: boolean;
}

/** Returns the entries of an object or array, undefined for other values. */
function entriesOf(value: Json): readonly (readonly [string, Json])[] | undefined {
  if (value === null || typeof value !== "object" || value instanceof WrittenNumber)
    return undefined;
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item] as const);
  return Object.entries(value);
}

function sizeOf(value: Json): number | undefined {
  if (value === null || typeof value !== "object" || value instanceof WrittenNumber)
    return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** Appends a key to a JSON pointer. */
function childPointer(pointer: string, key: string): string {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * Returns the visible lines. Values inside closed objects and arrays get no lines.
 * @param open JSON pointers of the open objects and arrays
 */
export function visibleRows(root: Json, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (value: Json, pointer: string, depth: number, name?: string, isIndex = false) => {
    const isOpen = open.has(pointer);
    rows.push({ pointer, depth, name, isIndex, value, size: sizeOf(value), isOpen });
    if (!isOpen) return;
    const inArray = Array.isArray(value);
    for (const [key, child] of entriesOf(value) ?? [])
      visit(child, childPointer(pointer, key), depth + 1, key, inArray);
  };
  visit(root, "", 0);
  return rows;
}

/**
 * Returns the pointers of the objects and arrays that are open at first: those in the first
 * `depth` levels, at most 200.
 */
export function openAtFirst(root: Json, depth: number): Set<string> {
  const open = new Set<string>();
  const visit = (value: Json, pointer: string, level: number) => {
    const entries = level < depth && open.size < 200 ? entriesOf(value) : undefined;
    // A long array or object stays closed at first, because it would push everything after it out
    // of view. The root is always open.
    if (entries === undefined || (level > 0 && entries.length > 50)) return;
    open.add(pointer);
    for (const [key, child] of entries) visit(child, childPointer(pointer, key), level + 1);
  };
  visit(root, "", 0);
  return open;
}

/** Maximum number of matches that a search returns. */
export const maxMatches = 1_000;

/**
 * Returns the pointers of the first `maxMatches` values whose key or own text contains the query,
 * in the order of the tree. Upper and lower case are the same.
 */
export function findInJson(root: Json, query: string): string[] {
  const wanted = query.toLowerCase();
  const found: string[] = [];
  if (wanted === "") return found;
  const visit = (value: Json, pointer: string, name: string) => {
    if (found.length >= maxMatches) return;
    const entries = entriesOf(value);
    const own = entries === undefined ? textOf(value) : "";
    if (name.toLowerCase().includes(wanted) || own.toLowerCase().includes(wanted))
      found.push(pointer);
    const inArray = Array.isArray(value);
    for (const [key, child] of entries ?? [])
      visit(child, childPointer(pointer, key), inArray ? "" : key);
  };
  visit(root, "", "");
  return found;
}

/** Returns the pointers of all values that contain the value at `pointer`, from the root down. */
export function ancestors(pointer: string): string[] {
  const parts = pointer.split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/**
 * Returns the text of a value that is neither an object nor an array. Strings have no quotes.
 */
export function textOf(value: Json): string {
  if (value instanceof WrittenNumber) return value.source;
  return String(value);
}
