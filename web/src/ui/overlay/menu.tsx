import { cloneElement, useState } from "react";
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
    onPointerDown: () => setPressed(true),
    onClick: () => setPressed(true),
  });
}
