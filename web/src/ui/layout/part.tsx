import type { ReactNode } from "react";

interface PartProps {
  readonly title: string;
  /**
   * Whether it is a region for screen readers, named by the title. The default is true. Pass false
   * if the title is not unique on the page.
   */
  readonly isRegion?: boolean;
  /** Shown at the end of the line with the heading. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a panel, below its heading. */
export function Part({ title, isRegion = true, aside, children }: PartProps) {
  return (
    <section aria-label={isRegion ? title : undefined} className="flex min-w-0 flex-col gap-1.5">
      <div className="flex min-h-6 items-center gap-2">
        <h3 className="min-w-0 flex-1 truncate text-label font-semibold text-ink-2">{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  );
}
