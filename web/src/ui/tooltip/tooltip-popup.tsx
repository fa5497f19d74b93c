import {
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from "react";

/** Distance of the tooltip to its element, and its minimum distance to the edges of the window. */
const gapPx = 6;
const edgePx = 8;

interface TooltipPopupProps {
  readonly id: string;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly close: () => void;
  readonly onPointerEnter: () => void;
  readonly onPointerLeave: () => void;
  readonly children: ReactNode;
}

/** The visible tooltip: above its element, or below it if there is not enough space above. */
export function TooltipPopup({ id, anchor, close, children, ...handlers }: TooltipPopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  // Runs after each rendering, because the size of the tooltip depends on its text, which can
  // change.
  useLayoutEffect(() => {
    const element = popup.current;
    if (element === null || anchor.current === null) return;
    // `showPopover` moves the tooltip to the browser's top layer, which is above dialogs and is not
    // clipped by scrolling containers.
    if (!element.matches(":popover-open")) element.showPopover();
    const near = anchor.current.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = element;
    const above = near.top - gapPx - height;
    const left = near.left + near.width / 2 - width / 2;
    const maxLeft = document.documentElement.clientWidth - width - edgePx;
    element.style.top = `${above < edgePx ? near.bottom + gapPx : above}px`;
    element.style.left = `${Math.max(edgePx, Math.min(left, maxLeft))}px`;
  });
  const closeNow = useEffectEvent(close);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // Without this line, Esc would also close a dialog around the element.
      event.stopPropagation();
      closeNow();
    };
    const onScroll = ({ target }: Event) => {
      if (target instanceof Node && target.contains(anchor.current)) closeNow();
    };
    const onPointerDown = ({ target }: PointerEvent) => {
      const inside = [anchor.current, popup.current];
      if (!(target instanceof Node) || !inside.some((element) => element?.contains(target)))
        closeNow();
    };
    addEventListener("keydown", onKeyDown, true);
    addEventListener("scroll", onScroll, true);
    addEventListener("pointerdown", onPointerDown, true);
    return () => {
      removeEventListener("pointerdown", onPointerDown, true);
      removeEventListener("keydown", onKeyDown, true);
      removeEventListener("scroll", onScroll, true);
    };
  }, [anchor]);
  return (
    <div
      {...handlers}
      ref={popup}
      id={id}
      role="tooltip"
      popover="manual"
      // Without these handlers, a press on the tooltip would be a press outside of a dialog and
      // close it.
      onPointerDown={stop}
      onClick={stop}
      onKeyDown={stop}
      className="pointer-events-auto inset-auto max-w-80 animate-popup rounded-control bg-ink px-2 py-1 text-label text-page"
    >
      {children}
    </div>
  );
}

const stop = (event: SyntheticEvent) => event.stopPropagation();
