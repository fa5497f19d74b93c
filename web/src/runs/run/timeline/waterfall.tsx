import { type KeyboardEvent, useCallback, useEffect, useEffectEvent, useId, useRef } from "react";
import { formatDuration } from "../../../format/index.ts";
import { isSingleKey, useRowHeight, useRowWindow } from "../../../ui/index.ts";
import type { Scale } from "./scale.ts";
import { nextFailed, type TimelineRow } from "./timeline.ts";
import { columns, WaterfallRow } from "./waterfall-row.tsx";

interface WaterfallProps {
  readonly rows: readonly TimelineRow[];
  readonly scale: Scale;
  /** Time up to which rows without an end are drawn, as Unix time in ms. */
  readonly now: number;
  /** Index of the highlighted row; -1 for none. */
  readonly selected: number;
  /** Index of the row to which the list scrolls; -1 for none. */
  readonly inSight: number;
  /**
   * How the row was selected. `move`: with the arrow keys; `press`: with the pointer; `open`: with
   * Enter, which also moves the focus to the details.
   */
  readonly onSelect: (index: number, how: "move" | "press" | "open") => void;
}

/**
 * The steps of a run as a tree. Up, Down, Home and End select a row, Enter opens its details, and
 * `]` selects the next failed step. In long runs only visible rows are rendered.
 */
export function Waterfall(props: WaterfallProps) {
  const { rows, scale, now, selected, inSight, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const rowHeight = useRowHeight("normal");
  const { start, end } = useRowWindow(list, rows.length, rowHeight);

  const show = useEffectEvent((index: number) => {
    if (box.current === null || index < 0) return;
    const { scrollTop, clientHeight } = box.current;
    // The sticky axis covers the first line of the box. So a row counts as visible only below this
    // line.
    const top = index * rowHeight;
    if (top < scrollTop) box.current.scrollTop = top;
    else if (top + 2 * rowHeight > scrollTop + clientHeight)
      box.current.scrollTop = top + 2 * rowHeight - clientHeight;
  });
  useEffect(() => show(inSight), [inSight]);

  const failed = useEffectEvent((event: globalThis.KeyboardEvent) => {
    if (event.key !== "]" || !isSingleKey(event)) return;
    const next = nextFailed(rows, selected);
    if (next !== undefined) onSelect(next, "move");
  });
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => failed(event);
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);

  const press = (event: KeyboardEvent) => {
    const last = rows.length - 1;
    const to = { ArrowDown: selected + 1, ArrowUp: selected - 1, Home: 0, End: last }[event.key];
    if (event.key === "Enter" && selected >= 0) onSelect(selected, "open");
    else if (to === undefined) return;
    else onSelect(Math.max(0, Math.min(last, to)), "move");
    event.preventDefault();
  };
  const latest = useRef(onSelect);
  useEffect(() => {
    latest.current = onSelect;
  }, [onSelect]);
  // The same function in each rendering, so that scrolling renders only new rows.
  const pressRow = useCallback((index: number) => latest.current(index, "press"), []);
  // `aria-activedescendant` must refer to an element. A row that is scrolled out of sight has none.
  const isRendered = start <= selected && selected < Math.min(end, rows.length);
  return (
    <div ref={box} className="@container h-full overflow-y-auto">
      <Axis scale={scale} height={rowHeight} />
      {/* The vertical lines reach the end of the box, even if there are only few steps. */}
      <div className="relative" style={{ minHeight: `calc(100% - ${rowHeight}px)` }}>
        <Lines scale={scale} />
        <div
          ref={list}
          role="tree"
          aria-label="Steps"
          tabIndex={0}
          aria-activedescendant={isRendered ? id + rows[selected]?.key : undefined}
          onKeyDown={press}
          className="relative focus-visible:-outline-offset-2"
          style={{ height: rows.length * rowHeight }}
        >
          <div aria-hidden="true" style={{ height: start * rowHeight }} />
          {rows.slice(start, end).map((row, offset) => (
            <WaterfallRow
              key={row.key}
              id={id + row.key}
              row={row}
              position={start + offset + 1}
              count={rows.length}
              height={rowHeight}
              scale={scale}
              now={now}
              isSelected={start + offset === selected}
              onPress={pressRow}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Axis({ scale, height }: { readonly scale: Scale; readonly height: number }) {
  return (
    <div
      aria-hidden="true"
      style={{ height }}
      className={`sticky top-0 z-1 items-center border-b border-rule bg-sheet text-label text-ink-3 ${columns}`}
    >
      <span>Step</span>
      <span className="relative hidden h-4 @md:block">
        {scale.ticks.map(({ at, label }) => (
          <span
            key={at}
            className="absolute pl-1 whitespace-nowrap font-mono"
            style={{ left: `${at * 100}%` }}
          >
            {label}
          </span>
        ))}
      </span>
      <span className="text-right">Duration</span>
    </div>
  );
}

/** The vertical lines at the ticks and at shortened idle times. */
function Lines({ scale }: { readonly scale: Scale }) {
  return (
    <div aria-hidden="true" className={`pointer-events-none absolute inset-0 ${columns}`}>
      <span />
      <span className="relative hidden h-full @md:block">
        {scale.ticks.map(({ at }) => (
          <span
            key={at}
            className="absolute inset-y-0 border-l border-rule"
            style={{ left: `${at * 100}%` }}
          />
        ))}
        {scale.folds.map(({ at, ms }) => (
          <span
            key={at}
            title={`${formatDuration(ms)} of idle time, folded`}
            className="absolute inset-y-0 w-2 -translate-x-1/2 border-x border-dashed border-edge"
            style={{ left: `${at * 100}%` }}
          />
        ))}
      </span>
    </div>
  );
}
