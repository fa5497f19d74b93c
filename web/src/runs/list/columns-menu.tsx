import { Columns3 } from "lucide-react";
import { Button, Menu } from "../../ui/index.ts";
import { type ColumnName, columnLabels, columnNames, fixedColumns } from "./columns.tsx";

interface ColumnsMenuProps {
  /** All columns of the list. */
  readonly names: readonly ColumnName[];
  /** The columns that are shown. */
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}

/** A menu in which the person chooses the columns of a list of runs. */
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
