import { useState } from "react";
import { useMedia } from "../use-media.ts";

/** The height of a table's rows. `double` is for cells with two lines. */
export type RowDensity = "normal" | "dense" | "double";

const heights = { normal: 36, dense: 30, line: 24 };

/**
 * Returns the height of a row, or of a line of a tree, in px. With a root font size of 16 px, it is
 * 36 for `normal`, 30 for `dense` and 24 for `line`, but 44 for these with a coarse pointer. For
 * `double` it is always 52. The heights of `normal` and `dense` must match `--spacing-row` and
 * `--spacing-dense` in tokens.css.
 */
export function useRowHeight(density: RowDensity | "line"): number {
  const isCoarse = useMedia("(pointer: coarse)");
  // Read only once, because each read makes the browser compute styles.
  const [rem] = useState(
    () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
  );
  return rem * (density === "double" ? 52 : isCoarse ? 44 : heights[density]);
}
