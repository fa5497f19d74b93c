import { type RefObject, useLayoutEffect } from "react";

/**
 * Scrolls a row of tabs sideways until the open tab is visible, each time another one opens. It
 * does not call `scrollIntoView`, because that would also scroll the page.
 */
export function useOpenTabInSight(
  tabs: RefObject<HTMLElement | null>,
  open: string | undefined,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each open tab needs its own position
  useLayoutEffect(() => {
    const row = tabs.current;
    const tab = row?.querySelector("[aria-current=page], [aria-selected=true]");
    if (!row || !tab) return;
    const outer = row.getBoundingClientRect();
    const inner = tab.getBoundingClientRect();
    if (inner.left < outer.left) row.scrollLeft -= outer.left - inner.left;
    else if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right;
  }, [tabs, open]);
}
