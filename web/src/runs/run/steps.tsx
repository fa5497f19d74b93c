import type { JournalEvent, Run } from "@beckon/client";
import { type CSSProperties, useMemo, useRef, useState } from "react";
import { formatDuration } from "../../format/index.ts";
import { Button, Problem, Skeleton, useMedia } from "../../ui/index.ts";
import type { ModelOutput } from "../model-output.ts";
import { isEnded } from "../patch-run.ts";
import { Inspector } from "./detail/inspector.tsx";
import type { Journal } from "./journal/entries.ts";
import type { Silence } from "./journal/use-silence.ts";
import { useRunSearch } from "./run-search.ts";
import { createScale, idleTimes } from "./timeline/scale.ts";
import { layOut, rowOf } from "./timeline/timeline.ts";
import { Waterfall } from "./timeline/waterfall.tsx";
import { useSelectedSeq } from "./use-selected-seq.ts";

interface StepsProps {
  readonly run: Run;
  readonly journal: Journal;
  readonly error: unknown;
  readonly onRetry: () => unknown;
  readonly output: ModelOutput | undefined;
  readonly silence: Silence | undefined;
  readonly now: number;
}

/**
 * Height of what the timeline contains besides the rows of steps, in row heights: the axis, and the
 * button that shortens idle times.
 */
const otherLines = 2.5;

/**
 * The timeline of a run, and beside it the detail of the selected step. Without `?seq=`, the last
 * step is selected: the step that failed if the run failed, the current one while it runs. On a
 * phone the detail is a page of its own.
 */
export function Steps({ run, journal, error, onRetry, output, silence, now }: StepsProps) {
  const search = useRunSearch();
  const isNarrow = useMedia("(width < 640px)");
  const detail = useRef<HTMLElement>(null);
  /**
   * On a phone, the index of the row to which the keyboard has moved. Its detail is not open yet.
   */
  const [active, setActive] = useState<number>();
  /**
   * True if the height depends on the number of steps. For a run that has not ended when the page
   * opens, the height is fixed: with each new step, a growing box would move what is below it.
   */
  const [isSized] = useState(() => isEnded(run));
  const { events } = journal;
  const timeline = useMemo(() => layOut(run, events), [run, events]);
  const { rows } = timeline;
  const lastEnd = rows.at(-1)?.end ?? timeline.start;
  const end = timeline.end ?? Math.max(now, lastEnd);
  const idle = useMemo(() => idleTimes(timeline, end), [timeline, end]);
  const { fold } = search;
  const scale = useMemo(
    () => createScale({ start: timeline.start, end }, fold ? idle : []),
    [timeline.start, end, fold, idle],
  );

  const { seq, move, cancelMove } = useSelectedSeq(search);
  // While further entries are being read, the last known row may not be the last row of the run. So
  // it is not selected.
  const isPartial = !journal.isComplete && error === null;
  const last = isPartial ? undefined : rows.length - 1;
  const selected = typeof seq === "number" ? rowOf(rows, seq) : rows[active ?? last ?? -1];
  const inSight = selected === undefined ? -1 : rows.indexOf(selected);
  // On a phone, a row that the person has not chosen shows no detail, so it is not highlighted.
  const isChosen = !isNarrow || seq !== undefined || active !== undefined;
  const seqs = selected?.seqs;
  const wanted = useMemo(() => seqs ?? (typeof seq === "number" ? [seq] : []), [seqs, seq]);
  const entries = useMemo(() => wanted.flatMap((at) => events[at - 1] ?? []), [wanted, events]);
  const isStep = ({ type, seq: each }: JournalEvent) =>
    type === "run.step" && each < (wanted[0] ?? 0);

  const select = (index: number, how: "move" | "press" | "open") => {
    const to = rows[index]?.seqs[0] ?? "now";
    if (how === "move") return isNarrow ? setActive(index) : move(to);
    setActive(undefined);
    cancelMove();
    search.change({ seq: to }, isNarrow ? "push" : "replace");
    if (how === "open" || isNarrow)
      requestAnimationFrame(() => detail.current?.focus({ preventScroll: true }));
  };
  const failed = error !== null;
  if (events.length === 0 && failed)
    return <Problem error={error} title="Steps could not be loaded." onRetry={onRetry} />;
  const idleMs = idle.reduce((sum, span) => sum + span.end - span.start, 0);
  return (
    <div className="flex min-w-0 flex-col rounded-control border border-rule bg-sheet">
      {failed ? (
        <div className="border-b border-rule p-3">
          <Problem error={error} title="The rest could not be loaded." onRetry={onRetry} />
        </div>
      ) : null}
      <div
        style={
          isSized ? ({ "--steps-lines": rows.length + otherLines } as CSSProperties) : undefined
        }
        className={`grid min-h-0 min-w-0 ${isSized ? "sm:h-[clamp(22rem,calc(var(--steps-lines)*var(--spacing-row)),min(56dvh,48rem))]" : "sm:h-[clamp(22rem,56dvh,48rem)]"} sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] sm:divide-x sm:divide-rule lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]`}
      >
        <div
          className={`flex min-h-0 min-w-0 flex-col max-sm:max-h-[70dvh] ${seq === undefined ? "" : "max-sm:hidden"}`}
        >
          <div className="min-h-0 flex-1">
            {events.length === 0 ? (
              <div className="p-4">
                <Skeleton width={80} />
                <Skeleton width={60} />
              </div>
            ) : (
              <Waterfall
                rows={rows}
                scale={scale}
                now={end}
                selected={isChosen ? inSight : -1}
                inSight={inSight}
                onSelect={select}
              />
            )}
          </div>
          {idle.length === 0 ? null : (
            <div className="border-t border-rule px-3 py-1">
              <Button
                size="small"
                variant="quiet"
                aria-pressed={search.fold}
                onClick={() => search.change({ fold: !search.fold })}
              >
                {`${search.fold ? "Show" : "Fold"} ${formatDuration(idleMs)} of waiting`}
              </Button>
            </div>
          )}
        </div>
        <div className={`min-h-0 min-w-0 ${seq === undefined ? "max-sm:hidden" : ""}`}>
          <Inspector
            ref={detail}
            runId={run.id}
            row={selected}
            entries={entries}
            unread={entries.length === 0 ? wanted[0] : undefined}
            askedBy={events.findLast(isStep)}
            now={end}
            hasEnded={isEnded(run)}
            output={output}
            silence={silence}
            onBack={() => search.change({ seq: undefined }, "close")}
          />
        </div>
      </div>
    </div>
  );
}
