import { useLayoutEffect } from "react";
import { Button } from "../../ui/index.ts";
import { LampShape } from "./lamp-shape.tsx";
import { useLiveText } from "./live-text.ts";

/**
 * Says on phones, above the bar at the bottom, that live updates are interrupted. Its height is
 * part of `--spacing-bars`, so that it covers neither the end of a page nor the buttons that stick
 * to the bottom.
 */
export function LiveStrip() {
  const { state, text, detail, retry } = useLiveText();
  const isShown = state !== "live" && state !== "connecting";
  useLayoutEffect(() => {
    if (!isShown) return;
    const { dataset } = document.documentElement;
    dataset.strip = "";
    return () => {
      delete dataset.strip;
    };
  }, [isShown]);
  // The element with the role is always rendered, because screen readers announce only changes of
  // an element.
  return (
    <div role="status">
      {isShown ? (
        <div className="fixed inset-x-0 bottom-14 z-20 flex h-strip items-center gap-2 border-rule border-t bg-sheet px-4 text-dense md:hidden">
          <LampShape state={state} />
          <span className="min-w-0 flex-1 truncate">
            {state === "not live" ? "Not live" : text} {detail}
          </span>
          {state === "not live" ? (
            <Button size="small" variant="quiet" onClick={retry}>
              Retry
            </Button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}
