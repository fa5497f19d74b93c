import type { ReactNode } from "react";
import { Skeleton } from "../feedback/skeleton.tsx";

/** Properties of {@link Figure}. */
export interface FigureProps {
  readonly label: string;
  /** The figure; undefined while it loads, and if it could not be loaded. */
  readonly value: ReactNode;
  /** Text below the figure. */
  readonly detail: ReactNode;
  readonly isFailed: boolean;
  /** Shown below the detail: a chart. */
  readonly children?: ReactNode;
}

/** A large number with its name. The caller puts it into a `<dl>`. */
export function Figure({ label, value, detail, isFailed, children }: FigureProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1 p-4">
      <dt className="text-label text-ink-3">{label}</dt>
      <dd className="flex min-w-0 flex-col gap-1">
        <span className="flex h-8 min-w-0 items-center truncate text-figure">
          {value !== undefined ? (
            value
          ) : isFailed ? (
            <span className="text-ink-3">unknown</span>
          ) : (
            <span className="w-full">
              <Skeleton width={40} />
            </span>
          )}
        </span>
        <span className="min-h-5 text-dense text-ink-2">{detail}</span>
        {children}
      </dd>
    </div>
  );
}
