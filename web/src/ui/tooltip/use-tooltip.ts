import {
  type FocusEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";

/** How long the pointer rests on an element before its tooltip opens, in milliseconds. */
const delayMs = 400;
/** For this time after a tooltip has closed, the next tooltip opens without a delay. */
const noDelayMs = 200;
/**
 * Time in which the pointer can move from the element to its tooltip, which then stays open (WCAG
 * 2.2, 1.4.13).
 */
const graceMs = 150;

let closeOpenOne: (() => void) | undefined;
let closedAtMs = Number.NEGATIVE_INFINITY;

/** The state of a tooltip, and the handlers for its element and for the tooltip itself. */
export interface TooltipState {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
  /** The element of the tooltip, which decides its position. Set when pointer or focus reach it. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly ofElement: {
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerLeave: () => void;
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
    readonly onFocus: (event: FocusEvent<HTMLElement>) => void;
    readonly onBlur: () => void;
  };
  readonly ofTooltip: {
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
  };
}

/** Opens a tooltip on hover and visible focus. At most one tooltip of the page is open. */
export function useTooltip(): TooltipState {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLElement>(null);
  const timer = useRef<number>(undefined);
  // True from the first movement over the element until the pointer leaves it. While it is true, a
  // tooltip that a press has closed does not open again.
  const isInside = useRef(false);
  const after = (waitMs: number, act: () => void) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(act, waitMs);
  };
  const [{ open, close }] = useState(() => {
    const close = () => {
      if (closeOpenOne !== close) return;
      closeOpenOne = undefined;
      closedAtMs = performance.now();
      setOpen(false);
    };
    const open = () => {
      if (closeOpenOne === close) return;
      closeOpenOne?.();
      closeOpenOne = close;
      setOpen(true);
    };
    return { open, close };
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      close();
    },
    [close],
  );
  const closeNow = () => {
    clearTimeout(timer.current);
    close();
  };
  return {
    isOpen,
    open: () => {
      clearTimeout(timer.current);
      open();
    },
    close: closeNow,
    anchor,
    ofElement: {
      onPointerMove: ({ currentTarget, pointerType }) => {
        if (pointerType === "touch" || isInside.current) return;
        isInside.current = true;
        anchor.current = currentTarget;
        const isSoon = closeOpenOne !== undefined || performance.now() - closedAtMs < noDelayMs;
        after(isSoon ? 0 : delayMs, open);
      },
      onPointerLeave: () => {
        isInside.current = false;
        after(graceMs, close);
      },
      onPointerDown: ({ currentTarget }) => {
        anchor.current = currentTarget;
        closeNow();
      },
      onFocus: ({ target, currentTarget }) => {
        anchor.current = currentTarget;
        // When a dialog opens and moves the focus, the tooltip must not open. Only a visible focus
        // opens it, also that of an input in the element.
        if (target.matches(":focus-visible")) open();
      },
      onBlur: closeNow,
    },
    ofTooltip: {
      onPointerEnter: () => clearTimeout(timer.current),
      onPointerLeave: () => after(graceMs, close),
    },
  };
}
