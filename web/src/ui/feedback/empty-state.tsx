import type { ReactNode } from "react";

interface EmptyStateProps {
  /** One sentence that teaches what belongs here. */
  readonly children: ReactNode;
  /** The primary action, or "Clear filters". */
  readonly action?: ReactNode;
  /** Something to copy, e.g. CurlLine. */
  readonly snippet?: ReactNode;
}

/** What a place shows while it is empty. */
export function EmptyState({ children, action, snippet }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-160 min-w-0 flex-col items-center gap-4 px-4 py-12 text-center">
      <p className="max-w-120 min-w-0 break-words text-ink-2 text-balance">{children}</p>
      {action}
      {snippet === undefined ? null : <div className="w-full pt-2 text-left">{snippet}</div>}
    </div>
  );
}
