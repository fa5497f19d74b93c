import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { createDeferred, useDeferred } from "../deferred.ts";
import { PopoverFrame } from "../overlay/popover-frame.tsx";
import { type FilterDefinition, filterValueText } from "./filter.ts";
import { FilterText } from "./filter-text.tsx";

/**
 * Delay before the editor of a new chip opens. When the menu that has added the chip closes, it
 * returns the focus to its own button. That would close an editor that is open already.
 */
const afterMenuMs = 50;

const choices = createDeferred(async () => (await import("./filter-options.tsx")).FilterOptions);

interface FilterChipProps {
  readonly filter: FilterDefinition;
  /** The value; empty if it is not chosen yet. The editor then opens automatically. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onRemove: () => void;
}

/** An active filter. A press opens its editor; its cross removes it. */
export function FilterChip({ filter, value, onChange, onRemove }: FilterChipProps) {
  const [open, setOpen] = useState(false);
  const isNew = useRef(value === "");
  useEffect(() => {
    if (!isNew.current) return;
    const timer = setTimeout(() => setOpen(true), afterMenuMs);
    return () => clearTimeout(timer);
  }, []);
  const toggle = (next: boolean) => {
    setOpen(next);
    if (!next && value === "") onRemove();
  };
  const choose = (chosen: string) => {
    onChange(chosen);
    setOpen(false);
  };
  const needsChoices = filter.editor === undefined && filter.options !== undefined;
  const FilterOptions = useDeferred(choices, open && needsChoices, () => toggle(false));
  const shown = filterValueText(filter, value);
  return (
    <span className="inline-flex h-control max-w-80 min-w-0 items-stretch rounded-control border border-edge bg-sheet">
      <PopoverFrame
        look="editor"
        label={filter.label}
        // A popover focuses its content when it opens, so it waits for the content.
        open={open && (!needsChoices || FilterOptions !== undefined)}
        onOpenChange={toggle}
        trigger={
          <button
            type="button"
            className="flex min-w-0 items-center gap-1.5 rounded-l-control pl-2 pr-1 hover:bg-hover"
          >
            <span className="text-ink-3">{filter.label}</span>
            <span className="truncate" dir="auto">
              {shown === "" ? "…" : shown}
            </span>
          </button>
        }
      >
        {filter.editor !== undefined ? (
          filter.editor(value, choose)
        ) : filter.options === undefined || FilterOptions === undefined ? (
          <FilterText filter={filter} value={value} onChoose={choose} />
        ) : (
          <FilterOptions
            label={filter.label}
            options={filter.options}
            valueOfId={filter.valueOfId}
            multiple={filter.multiple === true}
            value={value}
            onChange={filter.multiple ? onChange : choose}
          />
        )}
      </PopoverFrame>
      <button
        type="button"
        aria-label={`Remove filter ${filter.label}`}
        onClick={onRemove}
        className="inline-flex min-w-7 items-center justify-center rounded-r-control text-ink-3 hover:bg-hover hover:text-ink"
      >
        <X aria-hidden />
      </button>
    </span>
  );
}
