import { useState } from "react";

/**
 * Returns the handler for `onCloseAutoFocus` that gives the focus back to what had it, or to the
 * button of its menu. Radix does so only for dialogs with a `Trigger`. Call it in a component that
 * is mounted while the dialog is open: the first render is before `autoFocus` in it.
 */
export function useFocusReturn(): (event: Event) => void {
  const [opener] = useState(() => {
    const menu = document.activeElement?.closest("[role=menu]");
    // A menu is gone when its dialog closes.
    return menu
      ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "")
      : document.activeElement;
  });
  return (event) => {
    event.preventDefault();
    if (opener instanceof HTMLElement) opener.focus();
  };
}
