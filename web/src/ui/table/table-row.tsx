import { memo } from "react";
import { Checkbox } from "../form/checkbox.tsx";
import { Anchor } from "../link.tsx";
import { type Column, endPadding, visibleFrom } from "./column.ts";

interface TableRowProps<Item> {
  readonly item: Item;
  readonly itemKey: string;
  readonly index: number;
  readonly height: number;
  readonly columns: readonly Column<Item>[];
  readonly linkColumn: string | undefined;
  readonly href: string | undefined;
  /** Whether the page stays scrolled where it is when the link is followed. */
  readonly keepsScroll: boolean;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  /**
   * Selects or deselects the row; undefined if rows cannot be selected. It must be the same
   * function in each rendering, because the row is memoized.
   */
  readonly onToggle: ((key: string) => void) | undefined;
}

const cellLook = "border-b border-rule px-2 first:pl-4 last:pr-4";

/**
 * A row of a table. Its link covers the whole row, so a Cmd-click anywhere opens a new tab. It is
 * memoized, so scrolling renders only new rows.
 */
export const TableRow = memo(Content) as typeof Content;

function Content<Item>(props: TableRowProps<Item>) {
  const { item, itemKey, index, height, columns, linkColumn, href, keepsScroll } = props;
  const { isCurrent, isChosen, onToggle } = props;
  const tone = isCurrent || isChosen ? "bg-pick" : href === undefined ? "" : "hover:bg-hover";
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      aria-current={isCurrent ? "true" : undefined}
      className={`relative ${tone}`}
      style={{ height }}
    >
      {onToggle === undefined ? null : (
        <td className={`${cellLook} truncate`}>
          <span className="relative z-1 inline-flex align-middle">
            <Checkbox
              label={`Select row ${index + 1}`}
              labelHidden
              checked={isChosen}
              onChange={() => onToggle(itemKey)}
            />
          </span>
        </td>
      )}
      {columns.map((column, at) => (
        <td
          key={column.id}
          className={`${cellLook} ${column.isControl ? "whitespace-nowrap" : "truncate"} ${column.align === "end" ? "text-right" : ""} ${visibleFrom(column)} ${endPadding(columns, at)}`}
        >
          {column.id !== linkColumn ? (
            column.cell(item)
          ) : href === undefined ? (
            // In a row without a link, this element gets the focus from the keys J and K.
            <span tabIndex={-1} data-row-focus className="rounded-bar">
              {column.cell(item)}
            </span>
          ) : (
            <Anchor
              href={href}
              keepsScroll={keepsScroll}
              data-row-focus
              className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-tide"
            >
              {column.cell(item)}
            </Anchor>
          )}
        </td>
      ))}
    </tr>
  );
}
