import { cloneElement, type PointerEvent, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { PopoverFrameProps } from "./popover-panel.tsx";
import { useHasFocus } from "./use-has-focus.ts";

const panel = createDeferred(async () => (await import("./popover-panel.tsx")).PopoverPanel);

/** A small panel beside its button. The caller controls whether it is open. */
export function PopoverFrame(props: PopoverFrameProps) {
  const { trigger, open, onOpenChange } = props;
  const [isPressed, setPressed] = useState(false);
  const Panel = useDeferred(panel, open, () => onOpenChange(false));
  const [hasFocus, focusHandlers] = useHasFocus(trigger);
  const [isOpened, setOpened] = useState(open);
  if (open && !isOpened) setOpened(true);
  // The loaded panel renders its own button, which replaces this one. A replacement would lose the
  // click of a pressed button, and the focus of a focused one. So this button stays while it is
  // pressed and, until the popover is first opened, while it has the focus.
  if (Panel !== undefined && !isPressed && (isOpened || !hasFocus)) return <Panel {...props} />;
  return cloneElement(trigger, {
    ...focusHandlers,
    "aria-haspopup": "dialog",
    "aria-expanded": false,
    onPointerDown: () => setPressed(true),
    onPointerCancel: () => setPressed(false),
    // If the mouse leaves the pressed button, no click follows, so the press is over. A touch also
    // leaves the button, when the finger is lifted. But a click follows then, and `buttons` is 0.
    onPointerLeave: ({ buttons }: PointerEvent) => {
      if (buttons > 0) setPressed(false);
    },
    onClick: () => {
      setPressed(false);
      onOpenChange(true);
    },
  });
}
