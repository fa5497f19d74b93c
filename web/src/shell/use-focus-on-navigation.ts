import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/**
 * Id of the element with the page's content. The skip link leads to it, and it is focused after a
 * navigation.
 */
export const mainId = "main";

/**
 * Moves the focus to the content after a navigation to another path, so that keyboard users and
 * screen readers continue there. If the focus is inside the content already, for example on a tab,
 * it is not moved.
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
