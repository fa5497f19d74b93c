import type { ReactNode } from "react";

/** A column of DataTable. */
export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  /** Hides the header from sight, e.g. above marks or buttons. */
  readonly headerHidden?: boolean | undefined;
  /** Its cells hold a button, which is never cut. Give it a width of the button and 24 px. */
  readonly isControl?: boolean | undefined;
  readonly cell: (item: Item) => ReactNode;
  /** `end` for numbers, times and money. Default: start. */
  readonly align?: "start" | "end" | undefined;
  /** Width in px; columns without one share the rest. */
  readonly width?: number | undefined;
  /** From which width of the window on it is shown; always unless given. */
  readonly from?: "sm" | "md" | "lg" | "xl" | undefined;
}

const visibility = {
  sm: "max-sm:hidden",
  md: "max-md:hidden",
  lg: "max-lg:hidden",
  xl: "max-xl:hidden",
};

/** Classes of a cell and of its `<col>`. */
export function visibleFrom(column: { from?: keyof typeof visibility | undefined }): string {
  return column.from === undefined ? "" : visibility[column.from];
}

/** Rows chosen by their checkboxes. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
}
