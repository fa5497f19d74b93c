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

/** Returns {@link singleKeysEnabled}, and renders again when this tab changes it. */
export function useSingleKeys(): boolean {
  return useSyncExternalStore(onPreference, singleKeysEnabled);
}

/**
 * Returns true if a key press can be a shortcut of a single key: without Ctrl, Meta or Alt, not in
 * a form field or menu, no open dialog, not handled yet, and such shortcuts are switched on.
 */
export function isSingleKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.target as HTMLElement | null;
  if (target?.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]"))
    return false;
  if (document.querySelector("[role=dialog], [role=alertdialog]") !== null) return false;
  return singleKeysEnabled();
}
