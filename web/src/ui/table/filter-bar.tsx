import { ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../action/button.tsx";
import { Menu } from "../overlay/menu.tsx";
import type { FilterDefinition, FilterValues } from "./filter.ts";
import { FilterChip } from "./filter-chip.tsx";

interface FilterBarProps {
  readonly filters: readonly FilterDefinition[];
  readonly values: FilterValues;
  /** Gets all values; a removed filter is undefined. */
  readonly onChange: (values: FilterValues) => void;
  /** Before the chips: SearchField. */
  readonly children?: ReactNode;
  /** At the end: counts, column menu. */
  readonly end?: ReactNode;
}

/** Search, active filters as removable chips, and a menu that adds one. */
export function FilterBar({ filters, values, onChange, children, end }: FilterBarProps) {
  const active = filters.filter((filter) => values[filter.id] !== undefined);
  const rest = filters.filter((filter) => values[filter.id] === undefined);
  const clear = () => onChange(Object.fromEntries(filters.map(({ id }) => [id, undefined])));
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {children === undefined ? null : (
        <div className="flex min-w-60 flex-1 sm:max-w-80">{children}</div>
      )}
      {active.map((filter) => (
        <FilterChip
          key={filter.id}
          filter={filter}
          value={values[filter.id] ?? ""}
          onChange={(value) => onChange({ ...values, [filter.id]: value })}
          onRemove={() => onChange({ ...values, [filter.id]: undefined })}
        />
      ))}
      {rest.length === 0 ? null : (
        // At the edge its text, not its invisible box, is in line with the table.
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
              // Empty opens the chip's editor, where the value is chosen.
              onSelect: () => onChange({ ...values, [filter.id]: "" }),
            }))}
          />
        </div>
      )}
      {active.length < 2 ? null : (
        <Button variant="quiet" onClick={clear}>
          Clear
        </Button>
      )}
      {end === undefined ? null : <div className="ml-auto flex items-center gap-2">{end}</div>}
    </div>
  );
}
