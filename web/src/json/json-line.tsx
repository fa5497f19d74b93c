import { ChevronRight } from "lucide-react";
import type { KeyboardEvent, MouseEvent } from "react";
import { formatCounted } from "../format/index.ts";
import { CopyButton } from "../ui/action/copy-button.tsx";
import { type Json, WrittenNumber } from "./parse.ts";
import { type JsonRow, textOf } from "./rows.ts";

interface JsonLineProps {
  readonly id: string;
  readonly row: JsonRow;
  /** Height in px. */
  readonly height: number;
  readonly isMatch: boolean;
  readonly isCurrent: boolean;
  readonly isFocusable: boolean;
  readonly onFocus: () => void;
  readonly onToggle: (isOpen: boolean) => void;
  /** Shows a long string in full, below the tree. */
  readonly onShow: () => void;
}

/** A line of the tree. The arrow keys move between lines, and open and close them. */
export function JsonLine(props: JsonLineProps) {
  const { id, row, height, isMatch, isCurrent, isFocusable, onFocus, onToggle, onShow } = props;
  const canOpen = row.size !== undefined && row.size > 0;
  const pressKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget) return;
    const line = event.currentTarget;
    if (event.key === "ArrowRight" && canOpen && !row.isOpen) onToggle(true);
    else if (event.key === "ArrowLeft" && row.isOpen) onToggle(false);
    else if (event.key === "Enter" && canOpen) onToggle(!row.isOpen);
    else if (event.key === "ArrowDown") focusLine(line.nextElementSibling);
    else if (event.key === "ArrowUp") focusLine(line.previousElementSibling);
    else return;
    event.preventDefault();
  };
  const press = (event: MouseEvent<HTMLElement>) => {
    // A click on a button in the line must not open or close the line.
    if (event.target instanceof Element && event.target.closest("button")) return;
    onToggle(!row.isOpen);
  };
  const tone = isCurrent ? "bg-brass-soft" : isMatch ? "bg-pick" : "hover:bg-hover";
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={canOpen ? row.isOpen : undefined}
      aria-selected={isCurrent}
      tabIndex={isFocusable ? 0 : -1}
      onFocus={onFocus}
      onKeyDown={pressKey}
      onClick={canOpen ? press : undefined}
      className={`group flex items-center gap-1 pr-2 whitespace-pre focus-visible:-outline-offset-2 ${canOpen ? "cursor-pointer" : ""} ${tone}`}
      style={{ minHeight: height, paddingLeft: 6 + row.depth * 16 }}
    >
      <span className="inline-flex w-4 shrink-0 text-ink-3">
        {canOpen ? (
          <ChevronRight
            aria-hidden
            className={`transition-transform ${row.isOpen ? "rotate-90" : ""}`}
          />
        ) : null}
      </span>
      {row.name === undefined ? null : (
        <span className={row.isIndex ? "text-ink-3" : "text-ink"}>
          {row.name === "" ? '""' : row.name}
          <span className="text-ink-3">:</span>
        </span>
      )}
      <JsonValue row={row} onShow={onShow} />
      <span className="invisible -my-1 inline-flex group-focus-within:visible group-hover:visible">
        {row.pointer === "" ? null : <CopyButton text={row.pointer} what="path" />}
      </span>
    </div>
  );
}

function focusLine(line: Element | null): void {
  if (line instanceof HTMLElement && line.role === "treeitem") line.focus();
}

/**
 * Maximum number of characters of a string in its line. The whole string can be shown below the
 * tree.
 */
const maxInline = 80;

interface JsonValueProps {
  readonly row: JsonRow;
  readonly onShow: () => void;
}

function JsonValue({ row, onShow }: JsonValueProps) {
  const { value, size } = row;
  if (size !== undefined) {
    const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
    if (size === 0) return <span className="text-ink-3">{`${open}${close}`}</span>;
    const noun = Array.isArray(value) ? "item" : "key";
    return (
      <span className="text-ink-3">
        {row.isOpen ? open : `${open}…${close} ${size} ${noun}${size === 1 ? "" : "s"}`}
      </span>
    );
  }
  if (typeof value !== "string") return <span className={colourOf(value)}>{textOf(value)}</span>;
  const isCut = value.length > maxInline;
  return (
    <>
      {/* The button is before the text, because the end of the text may not be visible. */}
      {isCut ? (
        <button
          type="button"
          className="rounded-bar text-tide underline underline-offset-3"
          onClick={onShow}
        >
          {`Show ${formatCounted(value.length, "character")}`}
        </button>
      ) : null}
      <span className="text-moss">
        {JSON.stringify(isCut ? `${value.slice(0, maxInline)}…` : value)}
      </span>
    </>
  );
}

function colourOf(value: Json): string {
  return value instanceof WrittenNumber || typeof value === "number" ? "text-plum" : "text-brass";
}
