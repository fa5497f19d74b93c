import { useSyncExternalStore } from "react";
import { Button } from "../action/button.tsx";
import { closeMissing, missingParts, subscribeToMissing } from "../missing-parts.ts";
import { ProblemBox } from "./problem.tsx";

/** Why code cannot be loaded, and what to do. */
export const importFailedSentence =
  "Beckon was updated since the page was opened, or the connection failed. Reload the page.";

/**
 * Says that a part of the page could not be loaded. The rest of the page stays, so that what was
 * typed can be saved or copied before the page is reloaded. Render it once.
 */
export function MissingNotice() {
  const parts = useSyncExternalStore(subscribeToMissing, missingParts);
  return (
    <div
      role="alert"
      // Radix closes an open popover or dialog when the pointer or the focus is outside of it. The
      // part that is missing would then be closed before its button is pressed.
      onPointerDown={(event) => event.stopPropagation()}
      onFocus={(event) => event.stopPropagation()}
      className="pointer-events-auto fixed right-4 bottom-[calc(var(--spacing-bars)+0.5rem)] left-4 z-50 sm:left-auto sm:w-100 md:bottom-4"
    >
      {parts.length === 0 ? null : (
        <div className="animate-panel rounded-popup border border-rule bg-sheet shadow-popup">
          <ProblemBox
            title="A part of this page could not be loaded."
            error={`${importFailedSentence} Before that, save or copy what you have typed.`}
            action={
              <div className="flex flex-wrap gap-2">
                <Button size="small" onClick={() => location.reload()}>
                  Reload page
                </Button>
                <Button
                  size="small"
                  onClick={() => {
                    for (const { retry } of parts) retry();
                  }}
                >
                  Try again
                </Button>
                <Button size="small" onClick={closeMissing}>
                  Close
                </Button>
              </div>
            }
          />
        </div>
      )}
    </div>
  );
}
