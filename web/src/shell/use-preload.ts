import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/**
 * Loads a screen's code when the pointer or the focus is on a link to it, before the link is
 * pressed.
 */
export function usePreload(): void {
  const router = useRouter();
  useEffect(() => {
    const preload = ({ target }: Event) => {
      const link = target instanceof Element ? target.closest("a[href^='/w/']") : null;
      if (!(link instanceof HTMLAnchorElement)) return;
      // A failure is ignored here. It is shown when the link is followed.
      router.preloadRoute({ to: link.pathname as "/" }).catch(() => {});
    };
    document.addEventListener("pointerover", preload, { passive: true });
    document.addEventListener("focusin", preload);
    return () => {
      document.removeEventListener("pointerover", preload);
      document.removeEventListener("focusin", preload);
    };
  }, [router]);
}
