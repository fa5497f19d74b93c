import { useSyncExternalStore } from "react";
import { notifyPreference, onPreference } from "./preferences.ts";

/** The theme that a person has chosen. `system` follows the operating system. */
export type Theme = "system" | "light" | "dark";

/** The key in local storage. public/theme.js reads it before the first paint. */
const key = "beckon-theme";

/** Returns the theme that is stored in this browser; `system` if there is none. */
function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(key);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

/** Applies a theme now and stores it for this browser. */
export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // Without local storage, the theme applies until the page is left.
  }
  notifyPreference();
}

/** Returns the theme that is stored in this browser, and renders again when this tab changes it. */
export function useTheme(): Theme {
  return useSyncExternalStore(onPreference, readTheme);
}
