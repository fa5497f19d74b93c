/** Fields of a resource as the API returns them. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field that both sides changed to different values. */
export interface MergeConflict {
  /** Name of the field. For a field of an object in `parts`, both names: `receiving.filter`. */
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
 * compared as a whole, except for `parts`.
 *
 * @param base the resource with which the form was filled in
 * @param theirs the current resource on the server
 * @param yours the values in the form
 * @param parts names of fields that contain an object, which is merged field by field. A field that
 *   `yours` lacks in such an object was removed there; elsewhere it was not changed.
 */
export function mergeFields(
  base: Fields,
  theirs: Fields,
  yours: Fields,
  parts: readonly string[] = [],
): Merge {
  const merged: Record<string, unknown> = { ...theirs };
  const conflicts: MergeConflict[] = [];
  for (const field of Object.keys(yours)) {
    const mine = yours[field];
    if (isEqual(mine, base[field]) || isEqual(mine, theirs[field])) continue;
    const was = base[field];
    const other = theirs[field];
    if (isEqual(other, was)) merged[field] = mine;
    else if (parts.includes(field) && isFields(was) && isFields(other) && isFields(mine)) {
      const removed = Object.keys(was).map((name) => [name, undefined]);
      const part = mergeFields(was, other, { ...Object.fromEntries(removed), ...mine });
      merged[field] = withoutUndefined(part.merged);
      for (const each of part.conflicts)
        conflicts.push({ ...each, field: `${field}.${each.field}` });
    } else conflicts.push({ field, base: was, theirs: other, yours: mine });
  }
  return { merged, conflicts };
}

/**
 * Returns the fields with a new value of the field `name`. For a field of an object, `name` has
 * both names, such as `receiving.filter`, and the value undefined removes the field.
 */
export function withField(fields: Fields, name: string, value: unknown): Fields {
  const [part = name, field] = name.split(".");
  if (field === undefined) return { ...fields, [part]: value };
  // The cast is safe, because a name has a dot only if the part before the dot is an object.
  return { ...fields, [part]: withoutUndefined({ ...(fields[part] as Fields), [field]: value }) };
}

function withoutUndefined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
