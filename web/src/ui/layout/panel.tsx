import type { ReactNode } from "react";

interface PanelProps {
  readonly title?: string | undefined;
  /** One sentence below the title. */
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** `none` is for tables and lists that extend to the edge. Default: normal. */
  readonly padding?: "normal" | "none";
  readonly children: ReactNode;
}

/** An area with a hairline around it. Panels must not be nested. */
export function Panel({ title, description, actions, padding = "normal", children }: PanelProps) {
  return (
    <section className="min-w-0 rounded-control border border-rule bg-sheet" aria-label={title}>
      {title === undefined ? null : (
        <header className="flex min-h-11 flex-wrap items-center gap-2 border-b border-rule px-4 py-1.5">
          <div className="flex min-w-0 flex-1 flex-col">
            <h2 className="truncate text-section font-semibold">{title}</h2>
            {description === undefined ? null : (
              <p className="pb-1 text-dense text-ink-2">{description}</p>
            )}
          </div>
          {actions}
        </header>
      )}
      <div className={padding === "normal" ? "p-4" : ""}>{children}</div>
    </section>
  );
}
