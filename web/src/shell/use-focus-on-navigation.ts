import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/**
 * Id of the element with the page's content. The skip link leads to it, and it is focused after a
 * navigation.
 */
export const mainId = "main";

/** Selector of dialogs and menus, which are rendered outside of the content's element. */
const overlays = "[role=dialog], [role=alertdialog], [role=menu], [role=listbox]";

/**
 * Moves the focus to the content after a navigation to another path, so that keyboard users and
 * screen readers continue there. Does not move the focus if it is already inside the content, for
 * example on a tab, or in a dialog or menu that was opened while the content was loading.
 */
export function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        const main = document.getElementById(mainId);
        const isFirst = fromLocation === undefined;
        if (isFirst || !pathChanged || main === null) return;
        const focused = document.activeElement;
        if (main.contains(focused) || focused?.closest(overlays)) return;
        main.focus({ preventScroll: true });
      }),
    [router],
  );
}
