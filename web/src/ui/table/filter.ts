import type { ReactNode } from "react";

/** A filter that a list can have. */
export interface FilterDefinition {
  /** Name of the search parameter. */
  readonly id: string;
  readonly label: string;
  /** Choices; without them the filter takes a text. */
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
  /** True: several options can be chosen. The value has them separated by commas. */
  readonly multiple?: boolean | undefined;
  /** What the chip shows instead of its value. */
  readonly display?: ((value: string) => string) | undefined;
  /** Chooses the value, instead of options or a text. `choose` closes the editor. */
  readonly editor?: ((value: string, choose: (value: string) => void) => ReactNode) | undefined;
  readonly placeholder?: string | undefined;
}

/** Values by filter id, as the URL has them. */
export type FilterValues = Readonly<Record<string, string | undefined>>;
