import type { ReactNode } from "react";

/** A key of the keyboard. */
export function Kbd({ children }: { readonly children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-control border border-rule px-1 font-mono text-label text-ink-3">
      {children}
    </kbd>
  );
}
