import type { FieldValues, UseFormReturn } from "react-hook-form";
import { changesOf } from "../changes.ts";

/**
 * Fills a form with saved values, which become its default values.
 * @param sent the values of the form when it was submitted. Fields that were edited since then keep
 *   what was typed. Default: all edits are discarded.
 */
export function fillIn<Values extends FieldValues>(
  { reset, getValues }: Pick<UseFormReturn<Values>, "reset" | "getValues">,
  saved: Values,
  sent?: Values,
): void {
  const later = sent === undefined ? {} : changesOf(sent, getValues());
  // `reset` also uses the form's `resetOptions`, which can keep edits. The option given here
  // overrides them.
  reset(saved, { keepDirtyValues: false });
  if (Object.keys(later).length > 0)
    reset({ ...saved, ...later }, { keepDefaultValues: true, keepDirtyValues: false });
}
