import { Skeleton } from "../feedback/skeleton.tsx";
import { type Column, visibleFrom } from "./column.ts";

interface SkeletonRowsProps<Item> {
  readonly columns: readonly Column<Item>[];
  readonly height: number;
  readonly span: number;
}

const lines = ([60, 80, 40, 60, 80, 60, 40, 80] as const).map((width, line) => ({ line, width }));

/** Placeholder rows with the height of real rows, shown while the first page loads. */
export function SkeletonRows<Item>({ columns, height, span }: SkeletonRowsProps<Item>) {
  return (
    <tbody aria-hidden="true">
      {lines.map(({ line, width }) => (
        <tr key={line} style={{ height }}>
          {span > columns.length ? <td className="border-b border-rule" /> : null}
          {columns.map((column) => (
            <td
              key={column.id}
              className={`border-b border-rule px-2 first:pl-4 last:pr-4 ${visibleFrom(column)}`}
            >
              <Skeleton
                width={column.width === undefined ? width : column.width < 64 ? 100 : 60}
                align={column.align}
              />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
