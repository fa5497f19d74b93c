import { ListFilter } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Button } from "../action/button.tsx";
import { Menu } from "../overlay/menu.tsx";
import type { FilterDefinition, FilterValues } from "./filter.ts";
import { FilterChip } from "./filter-chip.tsx";

interface FilterBarProps {
  readonly filters: readonly FilterDefinition[];
  readonly values: FilterValues;
  /** Called with the values that have changed. The value of a removed filter is undefined. */
  readonly onChange: (values: FilterValues) => void;
  /** Shown before the chips: a SearchField. */
  readonly children?: ReactNode;
}

/**
 * A bar with a search field, the active filters as removable chips, and a menu that adds a filter.
 */
export function FilterBar({ filters, values, onChange, children }: FilterBarProps) {
  const active = filters.filter((filter) => values[filter.id] !== undefined);
  const rest = filters.filter((filter) => values[filter.id] === undefined);
  const bar = useFocusInBar();
  const clear = () => onChange(Object.fromEntries(filters.map(({ id }) => [id, undefined])));
  return (
    <div ref={bar} className="flex min-w-0 flex-wrap items-center gap-2">
      {children === undefined ? null : (
        <div className="flex min-w-60 flex-1 sm:max-w-80">{children}</div>
      )}
      {active.map((filter) => (
        <FilterChip
          key={filter.id}
          filter={filter}
          value={values[filter.id] ?? ""}
          onChange={(value) => onChange({ [filter.id]: value })}
          onRemove={() => onChange({ [filter.id]: undefined })}
        />
      ))}
      {rest.length === 0 ? null : (
        // If the menu's button is first in the bar, a negative margin aligns its text with the
        // table. Without it, the button's invisible border would be aligned.
        <div className={children === undefined && active.length === 0 ? "-ml-3" : ""}>
          <Menu
            label="Add a filter"
            align="start"
            trigger={
              <Button variant="quiet" icon={ListFilter}>
                Filter
              </Button>
            }
            items={rest.map((filter) => ({
              label: filter.label,
              // With an empty value, the chip opens its editor, in which the value is chosen.
              onSelect: () => onChange({ [filter.id]: "" }),
            }))}
          />
        </div>
      )}
      {active.length < 2 ? null : (
        <Button variant="quiet" onClick={clear}>
          Clear
        </Button>
      )}
    </div>
  );
}

/**
 * Keeps the focus in the page if a rendering removes the button that has it: the cross of a chip,
 * or a button that clears all filters, also one below the bar. The focus moves to the chip that
 * takes the removed one's position, else to the button that adds a filter.
 * @returns the ref of the bar
 */
function useFocusInBar() {
  const bar = useRef<HTMLDivElement>(null);
  // Both are read before the rendering is committed, because afterwards the button is gone. Dialogs
  // and menus, which are outside of `main`, return the focus themselves.
  const focused = document.querySelector("main :focus");
  const parts = [...(bar.current?.children ?? [])];
  const position = parts.findIndex((part) => part.contains(focused));
  useLayoutEffect(() => {
    if (bar.current === null || focused === null || focused.isConnected) return;
    const buttons = bar.current.querySelectorAll("button");
    const next = bar.current.children[position]?.querySelectorAll("button");
    (next?.item(next.length - 1) ?? buttons.item(buttons.length - 1))?.focus();
  });
  return bar;
}
