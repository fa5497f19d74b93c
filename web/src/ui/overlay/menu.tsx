import { cloneElement, type PointerEvent, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { MenuProps } from "./menu-panel.tsx";

const panel = createDeferred(async () => (await import("./menu-panel.tsx")).MenuPanel);

/** A menu of actions below its button. */
export function Menu(props: MenuProps) {
  const [isPressed, setPressed] = useState(false);
  const Panel = useDeferred(panel, isPressed);
  if (Panel !== undefined) return <Panel {...props} defaultOpen={isPressed} />;
  return cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    // Also when pressed, because the click is lost if the code arrives between press and release.
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || event.ctrlKey) return;
      // As Radix' own button does. If the menu opens at once, the mouse would then focus its
      // button, and the menu would take that for a focus outside and close.
      event.preventDefault();
      setPressed(true);
    },
    onClick: () => setPressed(true),
  });
}
