import { useEffect, useRef } from "react";

/** If the person has scrolled to less than this many px from the end, the end is kept visible. */
const nearEnd = 48;

/**
 * Keeps the end of a list visible while the list grows, unless the person has scrolled away from
 * it.
 * @param length number of items. Every new item scrolls the list to the end. An empty list is not
 * followed: what it says in place of items is read from its beginning.
 */
export function useFollowedEnd(length: number) {
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isEmpty = length === 0;
  useEffect(() => {
    const box = list.current;
    if (isEmpty || box === null) return;
    const remember = () => {
      const { scrollHeight, scrollTop, clientHeight } = scrollerOf(box);
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
    };
    const growth = new MutationObserver(() => {
      if (isAtEnd.current) scrollToEnd(box);
    });
    growth.observe(box, { childList: true, subtree: true, characterData: true });
    // `capture` also receives the scroll events of elements, which do not bubble.
    document.addEventListener("scroll", remember, { passive: true, capture: true });
    return () => {
      growth.disconnect();
      document.removeEventListener("scroll", remember, { capture: true });
    };
  }, [isEmpty]);
  useEffect(() => {
    if (length === 0 || list.current === null) return;
    isAtEnd.current = true;
    scrollToEnd(list.current);
  }, [length]);
  return list;
}

function scrollToEnd(list: Element): void {
  const scroller = scrollerOf(list);
  scroller.scrollTop = scroller.scrollHeight;
}

/** Returns the element that scrolls: on narrow screens this is the page, and not the list. */
function scrollerOf(list: Element): Element {
  const scrollsItself = getComputedStyle(list).overflowY === "auto";
  return scrollsItself ? list : (document.scrollingElement ?? list);
}
