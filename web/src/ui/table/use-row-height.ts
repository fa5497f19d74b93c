import { useState } from "react";
import { useMedia } from "../use-media.ts";

/** Height of a table's rows: `double` for two lines. */
export type RowDensity = "normal" | "dense" | "double";

/** Returns the height of a row in px, as tokens.css has it: 36, dense 30, coarse 44, double 52. */
export function useRowHeight(density: RowDensity): number {
  const isCoarse = useMedia("(pointer: coarse)");
  // Read once: with each rendering it would force the browser to compute styles.
  const [rem] = useState(
    () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
  );
  return rem * (density === "double" ? 52 : isCoarse ? 44 : density === "dense" ? 30 : 36);
}
