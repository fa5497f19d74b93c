import type { ReactNode } from "react";

interface ScrollRegionProps {
  /** Accessible name. */
  readonly label: string;
  /**
   * `bounded` is at most 320 px high, `tall` 640 px, `wide` (the default) as high as its content.
   */
  readonly variant?: "bounded" | "tall" | "wide";
  readonly children: ReactNode;
}

const heights = { bounded: "max-h-80", tall: "max-h-160", wide: "" };

/** A part of the page that scrolls on its own. It can also be scrolled with the keyboard. */
export function ScrollRegion({ label, variant = "wide", children }: ScrollRegionProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has focus
      tabIndex={0}
      className={`min-w-0 overflow-auto rounded-control ${heights[variant]}`}
    >
      {children}
    </section>
  );
}
