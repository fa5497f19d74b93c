import type { ReactNode } from "react";

interface TermProps {
  readonly name: string;
  readonly children: ReactNode;
}

/** A name and its value. The `dl` around it must be a grid, with names in the first column. */
export function Term({ name, children }: TermProps) {
  return (
    <>
      <dt className="break-words text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
