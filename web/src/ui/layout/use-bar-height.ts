import { type RefObject, useLayoutEffect } from "react";

const property = "--bar-height";

/**
 * Keeps a bar that sticks to the bottom from covering the element that gets the focus (WCAG 2.2,
 * 2.4.11): sets the bar's height as `--bar-height` of the element that scrolls, whose
 * `scroll-padding` contains it.
 */
export function useBarHeight(bar: RefObject<HTMLElement | null>, isSticky = true): void {
  useLayoutEffect(() => {
    const element = bar.current;
    if (element === null || !isSticky) return;
    let scroller: HTMLElement | undefined;
    const unset = () => scroller?.style.removeProperty(property);
    const observer = new ResizeObserver(() => {
      unset();
      // The bar of a hidden pane has no height.
      scroller = element.offsetHeight === 0 ? undefined : scrollerOf(element);
      scroller?.style.setProperty(property, `${element.offsetHeight}px`);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      unset();
    };
  }, [bar, isSticky]);
}

/** Returns the element that scrolls the given one: a pane, or the page. */
function scrollerOf(element: HTMLElement): HTMLElement {
  for (let box = element.parentElement; box !== null; box = box.parentElement)
    if (getComputedStyle(box).overflowY === "auto") return box;
  return document.documentElement;
}
