import { cloneElement } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { PopoverFrameProps } from "./popover-panel.tsx";

const panel = createDeferred(async () => (await import("./popover-panel.tsx")).PopoverPanel);

/** A small panel beside its button, which the caller opens and closes. */
export function PopoverFrame(props: PopoverFrameProps) {
  const { trigger, open, onOpenChange } = props;
  const Panel = useDeferred(panel, open);
  if (Panel !== undefined) return <Panel {...props} />;
  return cloneElement(trigger, {
    "aria-haspopup": "dialog",
    "aria-expanded": false,
    onClick: () => onOpenChange(true),
  });
}
