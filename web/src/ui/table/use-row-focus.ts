import { type RefObject, useLayoutEffect, useRef } from "react";
import { focusOwners, replaceFocus } from "../lost-focus.ts";
import { focusRow } from "./use-row-keys.ts";

/**
 * Keeps the focus in the page if a row is removed from the list that has the focus, or to which a
 * dialog would return it: the row that takes its position is focused, otherwise the last row, and
 * without rows the page's heading.
 */
export function useRowFocus<Item>(
  table: RefObject<HTMLElement | null>,
  rows: readonly Item[],
  rowKey: (item: Item) => string,
  rowHeight: number,
): void {
  // Read before the rendering is committed, because afterwards the row is gone.
  const owners = focusOwners().flatMap((owner) => {
    const row = table.current?.contains(owner) && owner.closest<HTMLElement>("[data-index]");
    return row ? [{ owner, index: Number(row.dataset.index) }] : [];
  });
  const shown = useRef(rows);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = rows;
    for (const { owner, index } of owners) {
      const item = before[index];
      if (owner.isConnected || item === undefined) continue;
      // A row that is scrolled out of sight leaves the document, too.
      if (rows.some((row) => rowKey(row) === rowKey(item))) continue;
      replaceFocus(
        owner,
        () =>
          table.current !== null &&
          focusRow(table.current, Math.min(index, shown.current.length - 1), rowHeight),
      );
    }
  });
}
