import { useSyncExternalStore } from "react";

const coarse = "(pointer: coarse)";

function subscribe(notify: () => void): () => void {
  const query = matchMedia(coarse);
  query.addEventListener("change", notify);
  return () => query.removeEventListener("change", notify);
}

/** Height of a table's rows: `double` for two lines. */
export type RowDensity = "normal" | "dense" | "double";

/** Returns the height of a row in px, as tokens.css has it: 36, dense 30, coarse 44, double 52. */
export function useRowHeight(density: RowDensity): number {
  const isCoarse = useSyncExternalStore(subscribe, () => matchMedia(coarse).matches);
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  return rem * (density === "double" ? 52 : isCoarse ? 44 : density === "dense" ? 30 : 36);
}
