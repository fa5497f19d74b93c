import { useEffect, useLayoutEffect, useState } from "react";

/** While a dialog closes, the element to which it returns the focus; otherwise null. */
let openerOfClosing: Element | null = null;

/**
 * Returns a handler for `onCloseAutoFocus` that returns the focus to the element that had it before
 * or, if that was in a menu, to the menu's button. Radix does so only for dialogs with a `Trigger`.
 * Call the hook in a component that is mounted only while the dialog is open: the first rendering
 * reads which element has the focus. If a dialog replaces another one, for example to show a new
 * secret, it returns the focus to where the first one was opened.
 */
export function useFocusReturn(): (event: Event) => void {
  const [opener] = useState(() => {
    if (document.activeElement === document.body && openerOfClosing !== null)
      return openerOfClosing;
    const menu = document.activeElement?.closest("[role=menu]");
    // The menu no longer exists when the dialog closes, so the focus returns to its button.
    return menu
      ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "")
      : document.activeElement;
  });
  useLayoutEffect(
    () => () => {
      openerOfClosing = opener;
      setTimeout(() => {
        openerOfClosing = null;
      });
    },
    [opener],
  );
  // Radix calls the handler only if its focus scope has started. If a key closes the dialog before
  // that, no element has the focus, so this effect focuses the opener.
  useEffect(
    () => () => {
      setTimeout(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement)
          opener.focus();
      });
    },
    [opener],
  );
  return (event) => {
    event.preventDefault();
    if (opener instanceof HTMLElement) opener.focus();
  };
}
