import type { JournalEvent, Run } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { formatBytes, formatDuration } from "../../format/index.ts";
import { type Column, DataTable, EmptyState, Time } from "../../ui/index.ts";
import type { Journal } from "./journal/entries.ts";
import { useRunSearch } from "./run-search.ts";

/** All journal entries of a run. A click on a row selects its entry in the detail view above. */
export function RawJournal({ run, journal }: { readonly run: Run; readonly journal: Journal }) {
  const { id } = useWorkspace();
  const { seq } = useRunSearch();
  const created = Date.parse(run.created_at);
  const columns: readonly Column<JournalEvent>[] = [
    { id: "seq", header: "Seq", width: 64, align: "end", cell: (entry) => String(entry.seq) },
    { id: "type", header: "Type", cell: ({ type }) => <span className="font-mono">{type}</span> },
    { id: "what", header: "About", cell: (entry) => aboutOf(entry), from: "md" },
    {
      id: "time",
      header: "Time",
      width: 110,
      cell: ({ time }) => <Time value={time} />,
      from: "sm",
    },
    {
      id: "after",
      header: "After",
      width: 100,
      align: "end",
      cell: ({ time }) => (
        <span className="font-mono">{formatDuration(Math.max(0, Date.parse(time) - created))}</span>
      ),
    },
  ];
  return (
    <DataTable
      label="Raw journal"
      density="dense"
      columns={columns}
      rows={journal.events}
      rowKey={(entry) => String(entry.seq)}
      rowHref={(entry) => `/w/${id}/runs/${run.id}?seq=${entry.seq}&tab=journal&view=json`}
      currentKey={typeof seq === "number" ? String(seq) : undefined}
      query={{ isPending: !journal.isComplete }}
      empty={<EmptyState>This run has no journal yet.</EmptyState>}
    />
  );
}

function aboutOf({ data }: JournalEvent): string {
  const { code } = (data.error ?? {}) as { readonly code?: string };
  const size =
    typeof data.artifact_id === "string" ? `${formatBytes(Number(data.bytes))} of data` : undefined;
  const about = [data.tool, data.outcome, data.model, data.reason, code, size];
  return about.filter((word) => typeof word === "string").join(" · ");
}
