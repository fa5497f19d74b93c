import { isEqual } from "../ui/index.ts";

/**
 * Returns the fields of `edited` that differ from the resource as it was read, so that a PATCH
 * sends nothing else.
 */
export function changesOf<Fields extends object>(base: object, edited: Fields): Partial<Fields> {
  const read = base as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(edited).filter(([field, value]) => !isEqual(value, read[field])),
  ) as Partial<Fields>;
}
