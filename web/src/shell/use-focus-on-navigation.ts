import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** Id of the element with the content of the page: target of the skip link and of the focus. */
export const mainId = "main";

/**
 * Moves the focus to the content after a navigation to another path, so that keyboard and screen
 * reader continue there. A focus inside the content stays, for example on a tab.
 */
export function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        const main = document.getElementById(mainId);
        const isFirst = fromLocation === undefined;
        if (isFirst || !pathChanged || main === null) return;
        if (main.contains(document.activeElement)) return;
        main.focus({ preventScroll: true });
      }),
    [router],
  );
}
