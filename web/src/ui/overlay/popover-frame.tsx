import { cloneElement, type PointerEvent, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { PopoverFrameProps } from "./popover-panel.tsx";

const panel = createDeferred(async () => (await import("./popover-panel.tsx")).PopoverPanel);

/** A small panel beside its button. The caller controls whether it is open. */
export function PopoverFrame(props: PopoverFrameProps) {
  const { trigger, open, onOpenChange } = props;
  const [isPressed, setPressed] = useState(false);
  const Panel = useDeferred(panel, open);
  // The loaded panel renders its own button. The first button is not replaced while it is pressed,
  // because the click would be lost.
  if (Panel !== undefined && !isPressed) return <Panel {...props} />;
  return cloneElement(trigger, {
    "aria-haspopup": "dialog",
    "aria-expanded": false,
    onPointerDown: () => setPressed(true),
    onPointerCancel: () => setPressed(false),
    // The pointer was released outside of the button, so no click follows. A touch also leaves the
    // button when the finger is lifted, right before the click; then `buttons` is 0.
    onPointerLeave: ({ buttons }: PointerEvent) => {
      if (buttons > 0) setPressed(false);
    },
    onClick: () => {
      setPressed(false);
      onOpenChange(true);
    },
  });
}
