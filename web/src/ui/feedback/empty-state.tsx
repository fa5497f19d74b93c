import type { ReactNode } from "react";

interface EmptyStateProps {
  /** One sentence that explains what will be shown here. */
  readonly children: ReactNode;
  /** A button: the primary action of the screen, or "Clear filters". */
  readonly action?: ReactNode;
  /** An element with text to copy, for example CurlLine. */
  readonly snippet?: ReactNode;
}

/** Shown instead of a list, a table or a panel while it has no content. */
export function EmptyState({ children, action, snippet }: EmptyStateProps) {
  return (
    <div className="mx-auto flex w-full max-w-160 min-w-0 flex-col items-center gap-4 px-4 py-12 text-center">
      <p className="max-w-120 min-w-0 break-words text-ink-2 text-balance">{children}</p>
      {action}
      {snippet === undefined ? null : <div className="w-full pt-2 text-left">{snippet}</div>}
    </div>
  );
}
