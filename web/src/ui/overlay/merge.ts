/** Fields of a resource as the API returns them. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field that both sides changed to different values. */
export interface MergeConflict {
  readonly field: string;
  readonly base: unknown;
  readonly theirs: unknown;
  readonly yours: unknown;
}

/** Result of {@link mergeFields}. */
export interface Merge {
  /** All fields; where both sides changed one, it holds theirs until a choice is made. */
  readonly merged: Fields;
  readonly conflicts: readonly MergeConflict[];
}

/**
 * Three-way merge by field: takes what only one side changed and reports what both changed
 * differently. Objects and arrays are compared and taken whole.
 *
 * @param base what the form was filled with
 * @param theirs what the server holds now
 * @param yours what the form holds
 */
export function mergeFields(base: Fields, theirs: Fields, yours: Fields): Merge {
  const merged: Record<string, unknown> = { ...theirs };
  const conflicts: MergeConflict[] = [];
  for (const field of Object.keys(yours)) {
    const mine = yours[field];
    if (isEqual(mine, base[field]) || isEqual(mine, theirs[field])) continue;
    if (isEqual(theirs[field], base[field])) merged[field] = mine;
    else conflicts.push({ field, base: base[field], theirs: theirs[field], yours: mine });
  }
  return { merged, conflicts };
}

/** Compares JSON values by content; the order of keys does not count. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && isEqual((a as Fields)[key], (b as Fields)[key]),
  );
}
