import { type ReactNode, useState } from "react";

interface SplitPaneProps {
  readonly start: ReactNode;
  readonly end: ReactNode;
  /** Names of the tabs on narrow screens. */
  readonly startLabel: string;
  readonly endLabel: string;
  /** Which side is wider. Default: even. */
  readonly ratio?: "even" | "start" | "end";
  /**
   * `page` (the default): both sides scroll with the page. `panes`: from 1100 px on, the two sides
   * fill the rest of the window's height, with a hairline between them, and each side scrolls
   * separately.
   */
  readonly scroll?: "page" | "panes";
  /** The open tab on narrow screens; undefined if the component itself keeps it. */
  readonly narrow?: "start" | "end" | undefined;
  /**
   * `hidden` shows no tabs on narrow screens, and thus only one side. Use it if the other side also
   * has a page of its own. Default: shown.
   */
  readonly tabs?: "shown" | "hidden";
  readonly onNarrowChange?: ((side: "start" | "end") => void) | undefined;
}

const grids = {
  even: "lg:grid-cols-2",
  start: "lg:grid-cols-[3fr_2fr]",
  end: "lg:grid-cols-[2fr_3fr]",
};

const looks = {
  page: { box: "gap-4", grid: "gap-6", side: "", end: "" },
  panes: {
    box: "lg:relative lg:min-h-120",
    grid: "lg:absolute lg:inset-0",
    side: "flex min-h-0 flex-col lg:scroll-pb-(--bar-height) lg:overflow-y-auto",
    end: "bg-sheet lg:border-l lg:border-rule",
  },
};

/**
 * Two columns from a width of 1100 px on, two tabs below that. Both sides stay mounted, so they
 * keep their state.
 */
export function SplitPane({
  start,
  end,
  startLabel,
  endLabel,
  ratio = "even",
  scroll = "page",
  narrow,
  tabs = "shown",
  onNarrowChange,
}: SplitPaneProps) {
  const [own, setOwn] = useState<"start" | "end">("start");
  const side = narrow ?? own;
  const choose = (chosen: "start" | "end") => {
    setOwn(chosen);
    onNarrowChange?.(chosen);
  };
  const labels = { start: startLabel, end: endLabel };
  const look = looks[scroll];
  const hidden = (name: "start" | "end") => (side === name ? "" : "max-lg:hidden");
  return (
    <div className={`flex min-h-0 min-w-0 flex-1 flex-col ${look.box}`}>
      {tabs === "hidden" ? null : (
        <div className="flex rounded-control border border-edge bg-well lg:hidden">
          {(["start", "end"] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={side === name}
              onClick={() => choose(name)}
              className="h-control min-w-0 flex-1 truncate rounded-control px-2 text-ink-2 aria-pressed:bg-sheet aria-pressed:font-semibold aria-pressed:text-ink"
            >
              {labels[name]}
            </button>
          ))}
        </div>
      )}
      <div
        className={`grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(0,1fr)] ${look.grid} ${grids[ratio]}`}
      >
        <section aria-label={startLabel} className={`min-w-0 ${look.side} ${hidden("start")}`}>
          {start}
        </section>
        <section
          aria-label={endLabel}
          className={`min-w-0 ${look.side} ${look.end} ${hidden("end")}`}
        >
          {end}
        </section>
      </div>
    </div>
  );
}
