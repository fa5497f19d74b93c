import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

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

/** Classes of a tab. The line of the open tab covers the hairline below the tabs. */
export const tabLook =
  "relative -mb-px inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent " +
  "text-ink-2 transition-colors hover:text-ink focus-visible:-outline-offset-2 " +
  "aria-[current=page]:border-tide aria-[current=page]:font-semibold " +
  "aria-[current=page]:text-ink " +
  "data-[state=active]:border-tide data-[state=active]:font-semibold data-[state=active]:text-ink";

/** Tabs within a page. The arrow keys move between them. Only the open tab is rendered. */
export function Tabs({ label, value, onChange, items }: TabsProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className="flex min-w-0 flex-col">
      <Radix.List
        aria-label={label}
        className="flex min-w-0 gap-5 overflow-x-auto overflow-y-hidden border-b border-rule"
      >
        {items.map((item) => (
          <Radix.Trigger key={item.value} value={item.value} className={tabLook}>
            {item.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {items.map((item) => (
        <Radix.Content key={item.value} value={item.value} className="min-w-0 pt-4">
          {item.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
