import { cloneElement, type MouseEvent, type PointerEvent, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import type { MenuProps } from "./menu-panel.tsx";
import { useHasFocus } from "./use-has-focus.ts";

const panel = createDeferred(async () => (await import("./menu-panel.tsx")).MenuPanel);

/** A menu of actions below its button. */
export function Menu(props: MenuProps) {
  const [pressedBy, setPressedBy] = useState<"pointer" | "key">();
  const Panel = useDeferred(panel, pressedBy !== undefined, () => setPressedBy(undefined));
  const [hasFocus, focusHandlers] = useHasFocus(props.trigger);
  // The loaded panel renders its own button, which replaces this one. If this button has the focus,
  // its replacement would lose the focus. So it is replaced only after a press: the menu then opens
  // and takes the focus.
  if (Panel !== undefined && (pressedBy !== undefined || !hasFocus))
    return <Panel {...props} pressedBy={pressedBy} />;
  return cloneElement(props.trigger, {
    ...focusHandlers,
    "aria-haspopup": "menu",
    "aria-expanded": false,
    // `onClick` alone is not enough: if the code arrives between press and release, this button is
    // replaced, and no click follows. So the press is noted on pointerdown already.
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || event.ctrlKey) return;
      // Without this line, the mouse would focus the button after the menu has opened. The menu
      // would then close, because the focus is outside of it.
      event.preventDefault();
      setPressedBy("pointer");
    },
    // `detail` is the number of clicks; it is 0 if a key has caused the event.
    onClick: ({ detail }: MouseEvent) => setPressedBy(detail === 0 ? "key" : "pointer"),
  });
}
