import type { ReactNode } from "react";

/** A column of DataTable. */
export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  /** True to hide the header visually, for example above marks or buttons. */
  readonly headerHidden?: boolean | undefined;
  /**
   * True if the cells contain a button, which must not be truncated. The width must be that of the
   * button plus 24 px.
   */
  readonly isControl?: boolean | undefined;
  readonly cell: (item: Item) => ReactNode;
  /** `end` for numbers, times and money. Default: start. */
  readonly align?: "start" | "end" | undefined;
  /** Width in px; columns without one share the rest. */
  readonly width?: number | undefined;
  /** The window width from which on the column is shown. Default: always. */
  readonly from?: "sm" | "md" | "lg" | "xl" | undefined;
}

const visibility = {
  sm: "max-sm:hidden",
  md: "max-md:hidden",
  lg: "max-lg:hidden",
  xl: "max-xl:hidden",
};

/** Returns the classes that hide a cell and its `<col>` in windows narrower than `from`. */
export function visibleFrom(column: { from?: keyof typeof visibility | undefined }): string {
  return column.from === undefined ? "" : visibility[column.from];
}

/** Rows chosen by their checkboxes. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
}
