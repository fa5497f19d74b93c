import { createContext, type ReactNode, useContext } from "react";
import { Link } from "../link.tsx";

/** What every header shows at its right end. */
export const HeaderEnd = createContext<ReactNode>(null);

/** A page above the current one, in the breadcrumb. */
export interface Crumb {
  readonly label: string;
  readonly href: string;
}

interface PageHeaderProps {
  readonly title: string;
  /** Links to the pages above this one. */
  readonly breadcrumb?: readonly Crumb[] | undefined;
  /** The id of the shown resource with its copy button. It follows the breadcrumb. */
  readonly id?: ReactNode;
  /** A StatusMark or badges, beside the title. */
  readonly status?: ReactNode;
  /** Buttons, the primary one last. Only a menu with further actions follows it. */
  readonly actions?: ReactNode;
  /** `LinkTabs` at the lower edge. */
  readonly tabs?: ReactNode;
  /** Facts and notices below the title. */
  readonly children?: ReactNode;
}

/**
 * The top of a page: the position in the hierarchy, the title, and the actions. It is as wide as
 * the page.
 */
export function PageHeader({
  title,
  breadcrumb,
  id,
  status,
  actions,
  tabs,
  children,
}: PageHeaderProps) {
  const end = useContext(HeaderEnd);
  const hasBreadcrumb = breadcrumb !== undefined && breadcrumb.length > 0;
  const padding = tabs === undefined ? "py-4" : "pt-4";
  return (
    <header
      className={`flex min-w-0 flex-col gap-3 border-b border-rule bg-sheet px-4 md:px-6 ${padding}`}
    >
      <div className="flex min-w-0 flex-col gap-2">
        {!hasBreadcrumb ? null : (
          <div className="flex min-w-0 items-center gap-1.5 text-dense text-ink-3">
            <nav aria-label="Breadcrumb" className="min-w-0">
              <ol className="flex min-w-0 items-center gap-1.5">
                {breadcrumb.map((crumb, index) => (
                  <li key={crumb.href} className="flex min-w-0 items-center gap-1.5">
                    {index === 0 ? null : <span aria-hidden="true">/</span>}
                    {/* The padding has space for the focus ring, which would be cut off. */}
                    <span className="-m-1 truncate p-1">
                      <Link href={crumb.href} variant="quiet">
                        {crumb.label}
                      </Link>
                    </span>
                  </li>
                ))}
              </ol>
            </nav>
            {id === undefined ? null : (
              <>
                <span aria-hidden="true">/</span>
                {/* The copy button is higher than the line. The negative margin keeps the line from
                    growing. */}
                <span className="-my-3 flex shrink-0 items-center">{id}</span>
              </>
            )}
            <span className="ml-auto">{end}</span>
          </div>
        )}
        <div className="flex min-h-control min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
          {/* In a narrow window, the title and its status share the width that the actions leave: a
              long title wraps to two lines, and the status moves below it. */}
          <div className="flex min-w-0 flex-1 basis-28 items-center gap-x-3 gap-y-1 max-sm:flex-wrap sm:basis-60">
            <h1
              // For `focusInstead`.
              tabIndex={-1}
              className="min-w-0 text-title font-semibold max-sm:line-clamp-2 max-sm:break-words sm:truncate"
              title={title}
              dir="auto"
            >
              {title}
            </h1>
            {status === undefined ? null : (
              <div className="flex shrink-0 items-center gap-2">{status}</div>
            )}
          </div>
          {hasBreadcrumb ? null : end}
          {actions === undefined ? null : (
            <div className="flex flex-wrap items-center gap-2">{actions}</div>
          )}
        </div>
      </div>
      {children}
      {tabs === undefined ? null : <div className="-mx-4 -mb-px px-4 md:-mx-6 md:px-6">{tabs}</div>}
    </header>
  );
}
