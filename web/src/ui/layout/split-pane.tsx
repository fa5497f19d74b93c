import type { ReactNode } from "react";

interface SplitPaneProps {
  readonly start: ReactNode;
  readonly end: ReactNode;
  /** Names of the two sides. */
  readonly startLabel: string;
  readonly endLabel: string;
}

const scrolling = "flex min-h-0 min-w-0 flex-col lg:scroll-pb-(--bar-height) lg:overflow-y-auto";

/**
 * Two columns from a width of 1100 px on, with a hairline between them. They fill the rest of the
 * window's height, and each scrolls separately. Below that, only `end` is shown; `start` keeps its
 * state.
 */
export function SplitPane({ start, end, startLabel, endLabel }: SplitPaneProps) {
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col lg:relative lg:min-h-120">
      <div className="grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(0,1fr)] lg:absolute lg:inset-0 lg:grid-cols-2">
        <section aria-label={startLabel} className={`${scrolling} max-lg:hidden`}>
          {start}
        </section>
        <section
          aria-label={endLabel}
          className={`${scrolling} bg-sheet lg:border-l lg:border-rule`}
        >
          {end}
        </section>
      </div>
    </div>
  );
}
