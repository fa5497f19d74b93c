import { type ReactNode, useCallback, useEffect, useId, useRef } from "react";
import { InRowContext } from "../text/time.tsx";
import { type Column, type Selection, visibleFrom } from "./column.ts";
import { LoadMore } from "./load-more.tsx";
import { RowsProblem } from "./rows-problem.tsx";
import type { RowsQuery } from "./rows-query.ts";
import { SkeletonRows } from "./skeleton-rows.tsx";
import { TableHead } from "./table-head.tsx";
import { TableRow } from "./table-row.tsx";
import { useRowFocus } from "./use-row-focus.ts";
import { type RowDensity, useRowHeight } from "./use-row-height.ts";
import { useRowKeys } from "./use-row-keys.ts";
import { useRowWindow } from "./use-window.ts";

interface DataTableProps<Item> {
  /** Accessible name: "Runs". */
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly rows: readonly Item[];
  readonly rowKey: (item: Item) => string;
  /**
   * Makes each row a link to this path. The text of the link is the cell of `linkColumn`. Default:
   * no links.
   */
  readonly rowHref?: ((item: Item) => string) | undefined;
  /**
   * `details` if the link shows details on the same page, for example in a dialog: the page then
   * stays scrolled where it is. Default: `page`, which starts at its top.
   */
  readonly rowOpens?: "page" | "details" | undefined;
  /** Id of the column with the link. Default: the first column without `headerHidden`. */
  readonly linkColumn?: string | undefined;
  /** Key of the row whose details are shown beside the table; undefined for none. */
  readonly currentKey?: string | undefined;
  readonly density?: RowDensity;
  /**
   * The query of the rows. While the first page loads, skeleton rows are shown. An error is shown
   * instead of the rows if the first page could not be loaded, and above the rows if a later page
   * or a refetch could not. Default: all rows are there.
   */
  readonly query?: RowsQuery;
  /** Shown if there are no rows: an EmptyState. */
  readonly empty: ReactNode;
  readonly selection?: Selection | undefined;
}

const complete: RowsQuery = { isPending: false };

/**
 * A table with a sticky header. If it has more than 40 rows, only the visible ones and a few around
 * them are in the document. All rows have the same height: their cells are one line, or two if
 * `density` is `double`. The table must be in a container or page that scrolls.
 */
export function DataTable<Item>(props: DataTableProps<Item>) {
  const { label, columns, rows, rowKey, rowHref, currentKey, density = "normal" } = props;
  const { query = complete, empty, selection } = props;
  const { isPending, error, hasNextPage = false } = query;
  const table = useRef<HTMLTableElement>(null);
  const rowHeight = useRowHeight(density);
  const { start, end } = useRowWindow(table, rows.length, rowHeight);
  const caption = useId();
  useRowKeys(table, rows.length, rowHeight);
  useRowFocus(table, rows, rowKey, rowHeight);
  const chosen = useRef(selection);
  useEffect(() => {
    chosen.current = selection;
  }, [selection]);
  const toggle = useCallback((key: string) => {
    const keys = new Set(chosen.current?.keys);
    if (!keys.delete(key)) keys.add(key);
    chosen.current?.onChange(keys);
  }, []);

  const failed = error !== undefined && error !== null;
  const showSkeleton = isPending && rows.length === 0 && !failed;
  const problem = <RowsProblem label={label} query={query} hasRows={rows.length > 0} />;
  if (rows.length === 0 && failed) return problem;
  if (rows.length === 0 && !showSkeleton && !hasNextPage) return empty;
  const span = columns.length + (selection === undefined ? 0 : 1);
  const linkColumn =
    columns.find(({ id }) => id === props.linkColumn)?.id ??
    columns.find(({ headerHidden }) => !headerHidden)?.id;
  return (
    <div className="min-w-0">
      {problem}
      <table
        ref={table}
        aria-labelledby={caption}
        aria-rowcount={hasNextPage || showSkeleton ? -1 : rows.length + 1}
        aria-busy={showSkeleton || undefined}
        className="w-full table-fixed border-separate border-spacing-0 [&>tbody:last-child>tr:last-child>td]:border-b-0"
      >
        <caption id={caption} className="sr-only">
          {label}
        </caption>
        <colgroup>
          {selection === undefined ? null : <col style={{ width: 40 }} />}
          {columns.map((column) => (
            <col
              key={column.id}
              className={visibleFrom(column)}
              style={column.width === undefined ? {} : { width: column.width }}
            />
          ))}
        </colgroup>
        <TableHead columns={columns} selection={selection} rows={rows} rowKey={rowKey} />
        <InRowContext value={true}>
          {showSkeleton ? <SkeletonRows columns={columns} height={rowHeight} span={span} /> : null}
          <Spacer height={start * rowHeight} />
          <tbody>
            {rows.slice(start, end).map((item, offset) => {
              const key = rowKey(item);
              return (
                <TableRow
                  key={key}
                  item={item}
                  itemKey={key}
                  index={start + offset}
                  height={rowHeight}
                  columns={columns}
                  linkColumn={linkColumn}
                  href={rowHref?.(item)}
                  keepsScroll={props.rowOpens === "details"}
                  isCurrent={key === currentKey}
                  isChosen={selection?.keys.has(key) === true}
                  onToggle={selection === undefined ? undefined : toggle}
                />
              );
            })}
          </tbody>
          <Spacer height={(rows.length - end) * rowHeight} />
        </InRowContext>
      </table>
      {hasNextPage ? (
        <div className="border-t border-rule">
          <LoadMore query={query} />
        </div>
      ) : null}
    </div>
  );
}

/**
 * Takes the place of rows that are not in the document. Its cell has no `colSpan`: that would also
 * count hidden columns, and the table would then give these columns a share of its width.
 */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr>
        <td style={{ height, padding: 0 }} />
      </tr>
    </tbody>
  );
}
