import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useReceivingForm } from "./form-context.ts";

interface GroupProps {
  readonly title: string;
  /** What is set, in one line, shown while the group is closed. */
  readonly summary: string;
  /** Paths of the group's settings in the API. If one of them is wrong, the group opens. */
  readonly paths: readonly string[];
  readonly startsOpen?: boolean;
  /** Whether there is a warning about one of the settings. The group then opens, too. */
  readonly hasWarning?: boolean;
  readonly children: ReactNode;
}

/** A group of settings that can be closed. */
export function Group({
  title,
  summary,
  paths,
  startsOpen = false,
  hasWarning = false,
  children,
}: GroupProps) {
  const { errorAt } = useReceivingForm();
  const [open, setOpen] = useState(startsOpen);
  const hasError = paths.some((path) => errorAt(path) !== undefined);
  const isOpen = open || hasError || hasWarning;
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="group min-w-0"
    >
      <summary className="flex min-h-11 min-w-0 list-none items-center gap-2 px-4 py-1.5 hover:bg-hover focus-visible:-outline-offset-2 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="text-ink-3 transition-transform group-open:rotate-90"
        />
        <span className="flex min-w-0 flex-1 flex-col sm:flex-row sm:items-baseline sm:gap-3">
          <span className="shrink-0 font-semibold">{title}</span>
          {isOpen ? null : (
            <span className="min-w-0 truncate text-dense text-ink-2" title={summary}>
              {summary}
            </span>
          )}
        </span>
      </summary>
      <div className="flex min-w-0 flex-col gap-4 px-4 pt-1 pb-5 sm:pl-10">{children}</div>
    </details>
  );
}
