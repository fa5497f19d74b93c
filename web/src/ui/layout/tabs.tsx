import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { useOpenTabInSight } from "./use-open-tab-in-sight.ts";

/** A tab of {@link Tabs}. */
export interface TabItem {
  readonly value: string;
  readonly label: string;
  readonly content: ReactNode;
}

interface TabsProps {
  /** Accessible name of the list of tabs. */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly items: readonly TabItem[];
}

/** Classes of a row of tabs, which scrolls sideways if it is too narrow. */
export const tabsLook =
  "flex min-w-0 gap-4 overflow-x-auto overflow-y-hidden border-b border-rule sm:gap-5";

/** Classes of a tab. The line of the open tab covers the hairline below the tabs. */
export const tabLook =
  "relative -mb-px inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent " +
  "text-ink-2 transition-colors hover:text-ink focus-visible:-outline-offset-2 " +
  "aria-[current=page]:border-tide aria-[current=page]:font-semibold " +
  "aria-[current=page]:text-ink " +
  "aria-selected:border-tide aria-selected:font-semibold aria-selected:text-ink";

/** For each key of the keyboard, the function that returns the index of the tab to open. */
const steps: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowRight: (index, count) => (index + 1) % count,
  ArrowLeft: (index, count) => (index + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/**
 * Tabs within a page, as in the ARIA Authoring Practices: the arrow keys, Home and End open another
 * tab. Only the open tab is rendered.
 */
export function Tabs({ label, value, onChange, items }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useOpenTabInSight(list, value);
  const open = items.find((item) => item.value === value);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key];
    if (step === undefined) return;
    const index = items.findIndex((item) => item.value === value);
    const chosen = items[step(index, items.length)];
    if (chosen === undefined) return;
    event.preventDefault();
    onChange(chosen.value);
    document.getElementById(`${id}${chosen.value}`)?.focus();
  };
  return (
    <div className="flex min-w-0 flex-col">
      <div ref={list} role="tablist" aria-label={label} onKeyDown={onKeyDown} className={tabsLook}>
        {items.map((item) => (
          <button
            key={item.value}
            id={`${id}${item.value}`}
            type="button"
            role="tab"
            aria-selected={item === open}
            aria-controls={item === open ? `${id}panel` : undefined}
            // The Tab key stops at the open tab only.
            tabIndex={item === open ? 0 : -1}
            onClick={() => onChange(item.value)}
            className={tabLook}
          >
            {item.label}
          </button>
        ))}
      </div>
      {open === undefined ? null : (
        <div
          key={open.value}
          id={`${id}panel`}
          role="tabpanel"
          aria-labelledby={`${id}${open.value}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: Tab leads to the content
          tabIndex={0}
          className="min-w-0 pt-4"
        >
          {open.content}
        </div>
      )}
    </div>
  );
}
