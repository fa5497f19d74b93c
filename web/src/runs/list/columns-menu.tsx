import { Columns3 } from "lucide-react";
import { Button, Menu } from "../../ui/index.ts";
import { type ColumnName, columnLabels, columnNames, fixedColumns } from "./columns.tsx";

interface ColumnsMenuProps {
  /** The columns that the list can have. */
  readonly names: readonly ColumnName[];
  /** Those that are chosen. */
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}

/** Chooses the columns of a list of runs. */
export function ColumnsMenu({ names, columns, onChange }: ColumnsMenuProps) {
  return (
    <Menu
      label="Columns"
      trigger={
        <Button size="small" variant="quiet" icon={Columns3}>
          Columns
        </Button>
      }
      items={names
        .filter((name) => !fixedColumns.has(name))
        .map((name) => ({
          label: columnLabels[name],
          checked: columns.includes(name),
          onSelect: () =>
            onChange(columnNames.filter((each) => columns.includes(each) !== (each === name))),
        }))}
    />
  );
}
