import { type RefObject, useEffect } from "react";
import { isSingleKey } from "../single-keys.ts";

/** A table with rows. */
const tableWithRows = "table:has([data-index])";

/**
 * The keys J and K move the focus between the rows of a table, and so do the arrow keys while a row
 * has the focus. From outside of all tables, they move it to the first table of the page. Enter
 * follows the row's link, which is the browser's default.
 */
export function useRowKeys(
  body: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (body.current === null || !isSingleKey(event)) return;
      const inRow = body.current.contains(document.activeElement);
      const down = event.key === "j" || (inRow && event.key === "ArrowDown");
      const up = event.key === "k" || (inRow && event.key === "ArrowUp");
      if (!down && !up) return;
      // Each table of the page receives the key.
      const table =
        document.activeElement?.closest(tableWithRows) ?? document.querySelector(tableWithRows);
      if (table !== body.current) return;
      event.preventDefault();
      const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
      const wanted =
        inRow && focused
          ? Number(focused.dataset.index) + (down ? 1 : -1)
          : firstInSight(body.current);
      const to = Math.max(0, Math.min(count - 1, wanted));
      focusRow(body.current, to, rowHeight);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [body, count, rowHeight]);
}

/** Returns the index of the first visible row among all rows, also those not in the document. */
function firstInSight(body: HTMLElement): number {
  const rows = [...body.querySelectorAll<HTMLElement>("[data-index]")];
  const first = rows.find((row) => row.getBoundingClientRect().top >= 0);
  return Number(first?.dataset.index ?? 0);
}

/** Focuses a row. Returns false if it is not in the document. */
export function focusRow(body: HTMLElement, index: number, rowHeight: number): boolean {
  const row = body.querySelector<HTMLElement>(`[data-index="${index}"]`);
  const target = row?.querySelector<HTMLElement>("[data-row-focus]");
  if (!row || !target) return false;
  target.focus({ preventScroll: true });
  // Without this margin, the sticky header would cover the row after scrolling.
  row.style.scrollMarginTop = `${rowHeight * 2}px`;
  row.scrollIntoView({ block: "nearest" });
  return true;
}
