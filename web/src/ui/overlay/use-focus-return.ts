import { useEffect, useLayoutEffect, useState } from "react";
import { addOpener, focusInstead } from "../lost-focus.ts";

/** The element to which a dialog or menu returns the focus when it closes. */
interface Opener {
  readonly current: Element | null;
}

/** While a dialog or menu closes, its opener; otherwise null. */
let openerOfClosing: Element | null = null;

/**
 * Notes the opener of a dialog or menu while that closes. No element has the focus then, and a
 * dialog that opens at this moment takes over the opener. Call it in a component that is mounted
 * only while the dialog or menu is open.
 */
export function useClosingOpener(opener: Opener): void {
  useLayoutEffect(
    () => () => {
      openerOfClosing = opener.current;
    },
    [opener],
  );
  useEffect(
    () => () => {
      setTimeout(() => {
        openerOfClosing = null;
      });
    },
    [],
  );
}

/**
 * Returns a handler for `onCloseAutoFocus` that returns the focus to the element that had it before
 * or, if that was in a menu, to the menu's button. Radix does so only for dialogs with a `Trigger`.
 * Call the hook in a component that is mounted only while the dialog is open: the first rendering
 * reads which element has the focus. If a dialog replaces another one, for example to show a new
 * secret, it returns the focus to where the first one was opened. If the opener was removed, for
 * example with the row that the dialog has deleted, `focusInstead` determines what gets the focus.
 */
export function useFocusReturn(): (event: Event) => void {
  const [opener] = useState(findOpener);
  useClosingOpener(opener);
  // Radix calls the handler only if its focus scope has started. If a key closes the dialog before
  // that, no element has the focus, so this effect focuses the opener.
  useEffect(() => {
    const removeOpener = addOpener(opener.current);
    return () => {
      setTimeout(() => {
        focusOpener(opener);
        removeOpener();
      });
    };
  }, [opener]);
  return (event) => {
    event.preventDefault();
    focusOpener(opener);
  };
}

/**
 * A handler for `onCloseAutoFocus` of menus and popovers: Radix returns the focus to their button
 * only if nothing else has it.
 */
export function keepFocus(event: Event): void {
  if (isAnythingFocused()) event.preventDefault();
}

function findOpener(): Opener {
  const { activeElement } = document;
  if (activeElement === document.body && openerOfClosing !== null)
    return { current: openerOfClosing };
  const menu = activeElement?.closest("[role=menu]");
  // The menu no longer exists when the dialog closes, so the focus returns to its button.
  return {
    current: menu
      ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "")
      : activeElement,
  };
}

/**
 * Returns whether an element has the focus. Radix returns the focus a timer after a dialog has
 * closed: the person can have opened another one since, for example the palette.
 */
const isAnythingFocused = () => document.activeElement !== document.body;

function focusOpener({ current }: Opener): void {
  if (isAnythingFocused() || !(current instanceof HTMLElement)) return;
  if (current.isConnected) current.focus();
  else focusInstead(current);
}
