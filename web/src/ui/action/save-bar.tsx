import { useEffect, useRef, useState } from "react";
import { useBarHeight } from "../layout/use-bar-height.ts";
import { Button } from "./button.tsx";

/** The state of the form. It is `saved` only after a 2xx response. */
export type SaveState = "clean" | "dirty" | "saving" | "saved";

interface SaveBarProps {
  readonly state: SaveState;
  /** Names of the fields with unsaved changes, as the form shows them and in its order. */
  readonly changed: readonly string[];
  /** Shown after the changes were saved, for example "Saved v13". Default: "Saved". */
  readonly savedText?: string;
  /** Why the person cannot save: the bar shows only this reason. Undefined if they can save. */
  readonly disabledReason?: string | undefined;
  readonly onDiscard: () => void;
  /**
   * Where the form is: in a panel, in a pane, or directly on the page. On the page, the bar also
   * covers the padding of the page. Default: panel.
   */
  readonly place?: "panel" | "pane" | "page";
}

/** Seconds for which the bar shows that the changes are saved. */
const savedSeconds = 6;
/** Maximum number of fields that are named. Further ones are only counted. */
const maxNamed = 3;

const looks = {
  panel: { bar: "rounded-b-control px-4", line: "" },
  pane: { bar: "px-4 md:px-6", line: "" },
  page: {
    bar: "-mx-4 -mb-4 px-4 md:-mx-6 md:-mb-6 md:px-6",
    line: "max-w-240",
  },
};

/**
 * The bar below a form with unsaved changes: it names their fields and has the buttons Discard and
 * Save, which submits the form. It is also shown for 6 seconds after saving, and always if there is
 * a `disabledReason`. While the bar is hidden, its space stays reserved, so that nothing moves when
 * it appears. In a panel, this space has a disabled Save. The bar sticks to the bottom of its
 * container, on phones above the navigation.
 */
export function SaveBar(props: SaveBarProps) {
  const { state, changed, savedText = "Saved", disabledReason, onDiscard, place = "panel" } = props;
  const hasSaved = useRecently(state === "saved");
  const bar = useRef<HTMLDivElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  const hasButtons = disabledReason === undefined && (state === "dirty" || state === "saving");
  const hadButtons = useRef(false);
  useEffect(() => {
    // The buttons disappear after saving or discarding. If one of them had the focus, the focus is
    // moved to the bar's text, so that the next Tab key does not start at the top of the page.
    const isLost = hadButtons.current && !hasButtons && document.activeElement === document.body;
    if (isLost) status.current?.focus({ preventScroll: true });
    hadButtons.current = hasButtons;
  }, [hasButtons]);
  const isIdle = place === "panel" && !hasButtons && disabledReason === undefined;
  const isShown = hasButtons || hasSaved || disabledReason !== undefined || isIdle;
  // While there is nothing to save and no text to show, the bar of a panel is not sticky: it stays
  // at the end of its form.
  const isSticky = !isIdle || hasSaved;
  useBarHeight(bar, isSticky && isShown);
  const text =
    disabledReason ?? (hasButtons ? `Unsaved: ${namesOf(changed)}` : hasSaved ? savedText : "");
  return (
    <div
      ref={bar}
      className={`border-t py-2 ${looks[place].bar} ${isSticky ? "sticky bottom-bars z-10 md:bottom-0 low:static" : ""} ${isShown ? "border-rule bg-sheet" : "pointer-events-none border-transparent"}`}
    >
      <div className={`flex min-h-control items-center gap-2 ${looks[place].line}`}>
        <p
          ref={status}
          role="status"
          tabIndex={-1}
          title={hasButtons ? changed.join(", ") : undefined}
          className={`min-w-0 flex-1 truncate rounded-bar text-dense outline-none ${hasSaved && !hasButtons ? "text-moss" : "text-ink-2"}`}
        >
          {text}
        </p>
        {hasButtons ? (
          <>
            {state === "dirty" ? (
              <Button variant="quiet" onClick={onDiscard}>
                Discard
              </Button>
            ) : null}
            <Button variant="primary" type="submit" pending={state === "saving"}>
              Save
            </Button>
          </>
        ) : isIdle ? (
          <Button variant="primary" type="submit" pending={false} disabled>
            Save
          </Button>
        ) : null}
      </div>
    </div>
  );
}

function namesOf(changed: readonly string[]): string {
  const more = changed.length - maxNamed;
  if (more <= 0) return changed.join(", ");
  return `${changed.slice(0, maxNamed).join(", ")} and ${more} more`;
}

/** Returns true while the condition is true, but for at most `savedSeconds`. */
function useRecently(isTrue: boolean): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!isTrue) return setOver(false);
    const timer = setTimeout(() => setOver(true), savedSeconds * 1_000);
    return () => clearTimeout(timer);
  }, [isTrue]);
  return isTrue && !isOver;
}
