import { memo } from "react";
import { Checkbox } from "../form/checkbox.tsx";
import { type Column, endPadding, type Selection, visibleFrom } from "./column.ts";

interface TableHeadProps<Item> {
  readonly columns: readonly Column<Item>[];
  readonly selection: Selection | undefined;
  readonly rows: readonly Item[];
  readonly rowKey: (item: Item) => string;
}

const look = "sticky top-0 z-2 h-dense border-b border-rule bg-sheet px-2 first:pl-4 last:pr-4";

/** The sticky header of a table. It is memoized, so scrolling does not render it again. */
export const TableHead = memo(Content) as typeof Content;

function Content<Item>({ columns, selection, rows, rowKey }: TableHeadProps<Item>) {
  return (
    <thead>
      <tr>
        {selection === undefined ? null : (
          <th scope="col" className={look}>
            <SelectAll selection={selection} keys={rows.map(rowKey)} />
          </th>
        )}
        {columns.map((column, at) => (
          <th
            key={column.id}
            scope="col"
            className={`${look} truncate text-label font-normal text-ink-3 ${column.align === "end" ? "text-right" : "text-left"} ${visibleFrom(column)} ${endPadding(columns, at)}`}
          >
            {column.headerHidden ? <span className="sr-only">{column.header}</span> : column.header}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface SelectAllProps {
  readonly selection: Selection;
  readonly keys: readonly string[];
}

function SelectAll({ selection, keys }: SelectAllProps) {
  const chosen = keys.filter((key) => selection.keys.has(key)).length;
  const all = keys.length > 0 && chosen === keys.length;
  return (
    <Checkbox
      label="Select all loaded rows"
      labelHidden
      checked={all}
      indeterminate={chosen > 0 && !all}
      onChange={() => selection.onChange(all ? new Set() : new Set(keys))}
    />
  );
}
