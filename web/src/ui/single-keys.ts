import { useSyncExternalStore } from "react";
import { notifyPreference, onPreference } from "./preferences.ts";

const key = "beckon-single-keys";

/** Returns false if the person switched off single-key shortcuts in this browser. */
function singleKeysEnabled(): boolean {
  try {
    return localStorage.getItem(key) !== "off";
  } catch {
    return true;
  }
}

/** Switches shortcuts of a single key on or off in this browser (WCAG 2.1.4). */
export function setSingleKeys(enabled: boolean): void {
  try {
    if (enabled) localStorage.removeItem(key);
    else localStorage.setItem(key, "off");
  } catch {
    // Without local storage, the preference cannot be stored and shortcuts stay on.
  }
  notifyPreference();
}

/**
 * Returns whether shortcuts of a single key are switched on in this browser. Renders again when
 * this tab switches them on or off.
 */
export function useSingleKeys(): boolean {
  return useSyncExternalStore(onPreference, singleKeysEnabled);
}

/**
 * Returns whether a key press can be a shortcut of a single key. It cannot if another handler has
 * handled it, if Ctrl, Meta or Alt is pressed, in a form field or menu, while a dialog is open or
 * opening, or if the person has switched off such shortcuts.
 */
export function isSingleKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]"))
    return false;
  if (document.querySelector("[role=dialog], [role=alertdialog], [data-opening]") !== null)
    return false;
  return singleKeysEnabled();
}
