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

/** Facts in a line that wraps. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="flex min-w-0 flex-wrap gap-x-6 gap-y-2">{children}</dl>;
}
