import { isEqual } from "../../ui/index.ts";

/** The versions of a form's fields when a save has succeeded. */
export interface SavedForm<Fields extends object> {
  /** The saved fields on which the sent ones were based. */
  readonly base: Fields;
  /** The saved fields now, with the sent changes and those of other people. */
  readonly saved: Fields;
  /** The fields of the form when it was sent. */
  readonly sent: Fields;
  /** The fields of the form now. */
  readonly typed: Fields;
}

/**
 * Returns what a form shows after a save, and what its next changes are based on. The form shows
 * the saved fields, and those that were edited after it was sent. Such a field keeps its old base
 * if it was not sent: the edit was made without knowing what someone else has saved. If `base` then
 * differs from `saved`, its version is the old one, so that the next save is merged.
 */
export function rebase<Fields extends object>(
  form: SavedForm<Fields>,
): Pick<SavedForm<Fields>, "base" | "typed"> {
  const { base, saved, sent, typed } = form as unknown as SavedForm<Record<string, unknown>>;
  const isTyped = (name: string) => !isEqual(typed[name], sent[name]);
  const isSent = (name: string) => !isEqual(sent[name], base[name]);
  const baseOf = (name: string) => (isTyped(name) && !isSent(name) ? base : saved)[name];
  const typedOf = (name: string) => (isTyped(name) ? typed : saved)[name];
  const all = (fields: object, ofName: (name: string) => unknown) =>
    Object.fromEntries(Object.keys(fields).map((name) => [name, ofName(name)])) as Fields;
  return { base: all({ ...saved, ...base }, baseOf), typed: all({ ...saved, ...typed }, typedOf) };
}
