import { useEffect, useEffectEvent } from "react";

/**
 * Returns whether new rows of a list can be inserted at once. If the page is scrolled down by more
 * than `maxPx`, they would move the rows that a person is reading.
 */
export function isAtTop(maxPx = 120): boolean {
  return window.scrollY <= maxPx;
}

/**
 * Calls `enter`, which inserts new rows into a list, when the person scrolls to the top of the
 * page.
 * @param enter undefined while no rows wait
 * @param maxPx see `isAtTop`
 */
export function useEnterAtTop(enter: (() => void) | undefined, maxPx?: number): void {
  const onScroll = useEffectEvent(() => {
    if (isAtTop(maxPx)) enter?.();
  });
  useEffect(() => {
    const handle = () => onScroll();
    document.addEventListener("scroll", handle, { passive: true });
    return () => document.removeEventListener("scroll", handle);
  }, []);
}
