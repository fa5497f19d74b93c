import { useEffect } from "react";
import { hasUnsavedChanges } from "../../ui/index.ts";

/** Key of the build that was reloaded, in the tab's storage. */
const key = "beckon-reloaded";

/**
 * Reloads a page whose code could not be loaded, because this is all that is necessary after an
 * update of Beckon. It does not if the server does not respond with the page, if something is
 * unsaved, or if this tab has reloaded the same build before, as the code would be missing again.
 */
export function useReloadOnce(): void {
  useEffect(() => {
    const left = new AbortController();
    // On an error, such as a failed connection, the page remains with its button.
    reloadOnce(left.signal).catch(() => {});
    return () => left.abort();
  }, []);
}

async function reloadOnce(signal: AbortSignal): Promise<void> {
  // The name of this file contains a hash, so each build has another one.
  const build = document.querySelector<HTMLScriptElement>("script[type=module]")?.src ?? "";
  if (sessionStorage.getItem(key) === build) return;
  const { ok } = await fetch(location.href, { method: "HEAD", cache: "no-store", signal });
  if (!ok || signal.aborted || hasUnsavedChanges()) return;
  sessionStorage.setItem(key, build);
  location.reload();
}
