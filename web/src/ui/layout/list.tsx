import type { ReactNode } from "react";
import { Anchor } from "../link.tsx";
import { InRowContext } from "../text/time.tsx";

interface ListProps {
  /** Accessible name of the list. */
  readonly label: string;
  /**
   * True for a list with many rows of one line. Rows that are not visible are then laid out only
   * when they come near the visible part.
   */
  readonly isLong?: boolean;
  readonly children: ReactNode;
}

/** Classes of a long list. A row that is not laid out counts as one line of 20 px plus padding. */
const longLook =
  "[&>li]:[contain-intrinsic-block-size:auto_1.25rem] [&>li]:[content-visibility:auto]";

/** A list of rows between hairlines, for data that needs no table. */
export function List({ label, isLong, children }: ListProps) {
  return (
    <ul
      aria-label={label}
      className={`flex min-w-0 flex-col divide-y divide-rule ${isLong ? longLook : ""}`}
    >
      {children}
    </ul>
  );
}

interface RowProps {
  /** Makes the whole row a link to this path. Default: no link. */
  readonly href?: string | undefined;
  readonly title: ReactNode;
  /** Shown below the title. */
  readonly detail?: ReactNode;
  /** Shown before the title, for example a StatusMark. */
  readonly start?: ReactNode;
  /** Shown at the end of the row: facts or buttons. */
  readonly end?: ReactNode;
  readonly current?: boolean | undefined;
}

/** A row of {@link List}. */
export function Row({ href, title, detail, start, end, current }: RowProps) {
  const look = current ? "bg-pick" : href === undefined ? "" : "hover:bg-hover";
  return (
    <li className={`relative flex min-h-row min-w-0 items-center gap-3 px-4 py-1.5 ${look}`}>
      {start}
      <div className="flex min-w-0 flex-1 flex-col">
        {href === undefined ? (
          <span className="truncate">{title}</span>
        ) : (
          <Anchor
            href={href}
            aria-current={current ? "true" : undefined}
            className="truncate after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-tide"
          >
            {title}
          </Anchor>
        )}
        {detail === undefined ? null : (
          <InRowContext value={href !== undefined}>
            <span className="truncate text-dense text-ink-2">{detail}</span>
          </InRowContext>
        )}
      </div>
      {end === undefined ? null : (
        <InRowContext value={href !== undefined}>
          <div className="relative flex shrink-0 items-center gap-2">{end}</div>
        </InRowContext>
      )}
    </li>
  );
}
