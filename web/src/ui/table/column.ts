import type { ReactNode } from "react";

/** A column of DataTable. */
export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  /** True to hide the header visually, for example above marks or buttons. */
  readonly headerHidden?: boolean | undefined;
  /**
   * True if the cells contain a button, which must not be truncated. The width must be that of the
   * button plus 24 px for the padding of a cell in the last column.
   */
  readonly isControl?: boolean | undefined;
  readonly cell: (item: Item) => ReactNode;
  /** `end` for numbers, times and money. Default: start. */
  readonly align?: "start" | "end" | undefined;
  /** Width in px; columns without one share the rest. */
  readonly width?: number | undefined;
  /**
   * The minimum window width for the column, as a breakpoint of tokens.css. Default: no minimum.
   */
  readonly from?: "sm" | "md" | "lg" | "xl" | undefined;
}

/** Returns the column with the menu of each row, at the end of a table. */
export function menuColumn<Item>(cell: Column<Item>["cell"]): Column<Item> {
  return {
    id: "menu",
    header: "Actions",
    headerHidden: true,
    isControl: true,
    width: 68,
    align: "end",
    cell,
  };
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

const lastBelow = {
  sm: "max-sm:pr-4",
  md: "max-md:pr-4",
  lg: "max-lg:pr-4",
  xl: "max-xl:pr-4",
};
const breakpoints = ["sm", "md", "lg", "xl"] as const;

/**
 * Returns the class that gives a column the padding of the last one, in windows that hide all
 * columns after it. The variant `last:` of Tailwind does not select the column in these windows,
 * because hidden cells stay in the document.
 */
export function endPadding(
  columns: readonly { readonly from?: keyof typeof visibility | undefined }[],
  index: number,
): string {
  const later = columns.slice(index + 1);
  if (later.length === 0 || later.some(({ from }) => from === undefined)) return "";
  const first = breakpoints.find((each) => later.some(({ from }) => from === each));
  return first === undefined ? "" : lastBelow[first];
}

/** Rows chosen by their checkboxes. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
}
