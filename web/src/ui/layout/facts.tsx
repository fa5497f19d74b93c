import type { ReactNode } from "react";

interface FactProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** A named fact of {@link Facts}. */
export function Fact({ label, children }: FactProps) {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-label text-ink-3">{label}</dt>
      <dd className="flex min-h-7 min-w-0 items-center gap-1">{children}</dd>
    </div>
  );
}

interface FactsProps {
  /**
   * `line` (the default) puts the facts side by side and wraps; `grid` has two columns, for phones.
   */
  readonly layout?: "line" | "grid";
  readonly children: ReactNode;
}

const layouts = {
  line: "flex min-w-0 flex-wrap gap-x-6 gap-y-2",
  grid: "grid min-w-0 grid-cols-[repeat(2,minmax(0,1fr))] gap-x-4 gap-y-2",
};

/** A list of facts, each with its name. */
export function Facts({ layout = "line", children }: FactsProps) {
  return <dl className={layouts[layout]}>{children}</dl>;
}
