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
  /**
   * All fields. A field that both sides have changed has the value of `theirs` until a choice is
   * made.
   */
  readonly merged: Fields;
  readonly conflicts: readonly MergeConflict[];
}

/**
 * Merges two changed versions of a resource by field. Changes that only one side has made are kept;
 * fields that both sides have changed to different values are reported. Objects and arrays are
 * compared as a whole.
 *
 * @param base the resource with which the form was filled in
 * @param theirs the current resource on the server
 * @param yours the values in the form
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
