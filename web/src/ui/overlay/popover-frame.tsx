import { cloneElement, type PointerEvent, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { PopoverFrameProps } from "./popover-panel.tsx";

const panel = createDeferred(async () => (await import("./popover-panel.tsx")).PopoverPanel);

/** A small panel beside its button, which the caller opens and closes. */
export function PopoverFrame(props: PopoverFrameProps) {
  const { trigger, open, onOpenChange } = props;
  const [isPressed, setPressed] = useState(false);
  const Panel = useDeferred(panel, open);
  // The panel brings a new button: replaced between press and release, it would miss the click.
  if (Panel !== undefined && !isPressed) return <Panel {...props} />;
  return cloneElement(trigger, {
    "aria-haspopup": "dialog",
    "aria-expanded": false,
    onPointerDown: () => setPressed(true),
    onPointerCancel: () => setPressed(false),
    // Released elsewhere. A finger also leaves when it is lifted, right before the click.
    onPointerLeave: ({ buttons }: PointerEvent) => {
      if (buttons > 0) setPressed(false);
    },
    onClick: () => {
      setPressed(false);
      onOpenChange(true);
    },
  });
}
