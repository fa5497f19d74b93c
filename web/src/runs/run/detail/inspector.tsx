import type { JournalEvent } from "@beckon/client";
import { ArrowLeft } from "lucide-react";
import { memo, type Ref } from "react";
import { JsonTree } from "../../../json/index.ts";
import { Button, CopyButton, Fact, Facts, Id, Time, Tokens } from "../../../ui/index.ts";
import type { ModelOutput } from "../../model-output.ts";
import { costOfStep } from "../cost.ts";
import { CostFact } from "../cost-fact.tsx";
import type { Silence } from "../journal/use-silence.ts";
import { useRunSearch } from "../run-search.ts";
import { ViewSwitch } from "../text-views.tsx";
import { RowIcon } from "../timeline/row-icon.tsx";
import { durationOf } from "../timeline/row-words.ts";
import type { TimelineRow } from "../timeline/timeline.ts";
import { EntryData } from "./entry-data.tsx";
import { CurrentCall, ModelDetail } from "./model-detail.tsx";
import { sentenceFor } from "./step-words.ts";
import { ToolDetail } from "./tool-detail.tsx";

interface InspectorProps {
  readonly runId: string;
  /** The selected row of the timeline; undefined if the selected entry has no row. */
  readonly row: TimelineRow | undefined;
  /** The journal entries of the row. Without a row, the selected entry. */
  readonly entries: readonly JournalEvent[];
  /** `seq` of the selected entry if the journal has not been read that far, or lacks it. */
  readonly unread: number | undefined;
  /**
   * The entry of the last model call before the row; undefined if there is none. If the row is a
   * tool call, this model call requested it.
   */
  readonly askedBy: JournalEvent | undefined;
  readonly now: number;
  readonly hasEnded: boolean;
  readonly output: ModelOutput | undefined;
  readonly silence: Silence | undefined;
  readonly onBack: () => void;
  readonly ref?: Ref<HTMLElement>;
}

/** The details of the selected step. */
export function Inspector(props: InspectorProps) {
  const { runId, row, entries, unread, askedBy, now, hasEnded, output, silence, onBack, ref } =
    props;
  const { view, change } = useRunSearch();
  const name = row?.name ?? entries[0]?.type ?? "Step";
  const title = [name, row?.note].filter(Boolean).join(", ");
  const detailOf = (shown: readonly JournalEvent[]) =>
    view === "json" ? (
      shown.map(({ seq, type }) => <RawEntry key={seq} runId={runId} seq={seq} type={type} />)
    ) : (
      <Detail runId={runId} row={row} entries={shown} askedBy={askedBy} hasEnded={hasEnded} />
    );
  return (
    <section
      ref={ref}
      aria-label="Detail of the step"
      tabIndex={-1}
      className="flex h-full min-w-0 scroll-pt-16 flex-col overflow-y-auto outline-none"
    >
      <header className="sticky top-0 z-1 flex min-h-row flex-wrap items-center gap-x-3 gap-y-1 border-b border-rule bg-sheet px-4 py-1">
        <span className="-ml-2 sm:hidden">
          <Button size="small" variant="quiet" icon={ArrowLeft} onClick={onBack}>
            Steps
          </Button>
        </span>
        <span className="flex min-h-7 min-w-0 flex-1 basis-44 items-center gap-2">
          {row === undefined ? null : <RowIcon row={row} />}
          <h2 className="truncate font-semibold" title={title} dir="auto">
            {title}
          </h2>
          {row === undefined || !row.isMeasured ? null : (
            <span className="shrink-0 font-mono text-dense text-ink-2">{durationOf(row, now)}</span>
          )}
        </span>
        <ViewSwitch value={view} onChange={(chosen) => change({ view: chosen })} />
      </header>
      <div className="flex min-w-0 flex-1 flex-col gap-4 p-4">
        {row?.key === "now" ? (
          <CurrentCall runId={runId} output={output} silence={silence} />
        ) : unread === undefined ? (
          detailOf(entries)
        ) : (
          <EntryData runId={runId} seq={unread}>
            {(_, entry) => detailOf([entry])}
          </EntryData>
        )}
      </div>
      {entries.length === 0 ? null : (
        <footer className="flex flex-col gap-1 border-t border-rule px-4 py-2 text-label text-ink-3">
          {entries.map((entry) => (
            <EntryLine key={entry.seq} entry={entry} />
          ))}
        </footer>
      )}
    </section>
  );
}

type DetailProps = Pick<InspectorProps, "runId" | "row" | "entries" | "askedBy" | "hasEnded">;

/** Memoized, because the time above it changes many times per second while the run runs. */
const Detail = memo(function Detail({ runId, row, entries, askedBy, hasEnded }: DetailProps) {
  const { view } = useRunSearch();
  const of = (type: JournalEvent["type"]) => entries.find((entry) => entry.type === type);
  const step = of("run.step");
  if (step !== undefined)
    return (
      <EntryData runId={runId} seq={step.seq}>
        {(data) => <ModelDetail data={data} view={view} />}
      </EntryData>
    );
  const [call, result] = [of("run.tool_call"), of("run.tool_result")];
  if (call !== undefined || result !== undefined)
    return (
      <ToolDetail
        runId={runId}
        call={call}
        result={result}
        askedBy={askedBy}
        hasEnded={hasEnded || row?.kind === "lost"}
        view={view}
      />
    );
  return entries.map((entry) => (
    <div key={entry.seq} className="flex flex-col gap-3">
      <p className="break-words">{sentenceFor(entry)}</p>
      {entry.type === "run.step_lost" ? <LostUsage data={entry.data} /> : null}
    </div>
  ));
});

function LostUsage({ data }: { readonly data: JournalEvent["data"] }) {
  const usage = data.usage as { input_tokens?: number; output_tokens?: number } | undefined;
  return (
    <Facts>
      <Fact label="Model">
        <span className="font-mono text-dense">{String(data.model)}</span>
      </Fact>
      <Fact label="Tokens, estimated">
        <Tokens input={usage?.input_tokens} output={usage?.output_tokens} estimated />
      </Fact>
      <CostFact cost={costOfStep(data)} estimated />
    </Facts>
  );
}

interface RawEntryProps {
  readonly runId: string;
  readonly seq: number;
  readonly type: string;
}

const RawEntry = memo(function RawEntry({ runId, seq, type }: RawEntryProps) {
  return (
    <EntryData runId={runId} seq={seq}>
      {(data, entry) => (
        <JsonTree
          label={type}
          source={{ value: { ...entry, data } }}
          depth={4}
          fileName={`${entry.id}.json`}
        />
      )}
    </EntryData>
  );
});

function EntryLine({ entry }: { readonly entry: JournalEvent }) {
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3">
      <span className="font-mono">{`${entry.seq} ${entry.type}`}</span>
      <Time value={entry.time} />
      <span className="ml-auto flex items-center gap-1">
        <Id value={entry.id} />
        <CopyButton text={entry.id} what="event id" />
      </span>
    </div>
  );
}
