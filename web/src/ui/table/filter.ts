import type { ReactNode } from "react";

/** A filter that a list can have. */
export interface FilterDefinition {
  /** Name of the search parameter. */
  readonly id: string;
  readonly label: string;
  /** Options to choose from; undefined if any text can be entered, or if there is an `editor`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
  /**
   * Returns the value for an id that a person has typed, because the options do not contain
   * everything, for example nothing that was deleted. Undefined if the filter takes no such id.
   * Not for filters with `multiple`.
   */
  readonly valueOfId?: ((id: string) => string | undefined) | undefined;
  /** True if several options can be chosen. The value then contains them separated by commas. */
  readonly multiple?: boolean | undefined;
  /**
   * Returns the text that is shown instead of the value. Default: the value or the option's label.
   */
  readonly display?: ((value: string) => string) | undefined;
  /**
   * Renders an editor for the value, which replaces the list of options or the text field. It calls
   * `choose` with the new value, which closes the editor.
   */
  readonly editor?: ((value: string, choose: (value: string) => void) => ReactNode) | undefined;
  readonly placeholder?: string | undefined;
}

/** Returns the text that is shown for the value of a filter; empty if it is not chosen yet. */
export function filterValueText(
  { display, options, multiple }: FilterDefinition,
  value: string,
): string {
  if (display !== undefined && value !== "") return display(value);
  const labelOf = (part: string) => options?.find((option) => option.value === part)?.label ?? part;
  return multiple ? value.split(",").map(labelOf).join(", ") : labelOf(value);
}

/**
 * The values of filters by id. In the URL they are search parameters of the same names. Undefined:
 * the filter is not active. Empty: the filter is active and its value is not chosen yet.
 */
export type FilterValues = Readonly<Record<string, string | undefined>>;
