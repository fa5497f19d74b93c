import { type ReactNode, useMemo, useState } from "react";
import { useList, useWorkspace } from "../../data/index.ts";
import { DataTable, useMedia } from "../../ui/index.ts";
import type { AgentName } from "../agent-names.ts";
import { patched } from "../live-runs.ts";
import { useLiveRuns } from "../use-live-runs.ts";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import { nothingSelected, type RunSelection } from "./bulk/selection.ts";
import { type ColumnName, narrowColumn, runColumns } from "./columns.tsx";
import type { RunFilters } from "./filters/run-filters.ts";
import { ListSummary } from "./list-summary.tsx";
import { NewRunsButton } from "./new-runs-button.tsx";
import { runsQuery } from "./queries.ts";
import { useNewRuns } from "./use-new-runs.ts";

interface RunsListProps {
  readonly label: string;
  readonly filters: RunFilters;
  /** Whether the person has filtered the list. */
  readonly isFiltered: boolean;
  readonly agents: ReadonlyMap<string, AgentName>;
  readonly columns: readonly ColumnName[];
  /** The filters in words. */
  readonly filterWords: ReactNode;
  readonly columnsMenu: ReactNode;
  readonly empty: ReactNode;
}

/** The runs that match the filters, and the actions on many of them. */
export function RunsList(props: RunsListProps) {
  const { label, filters, isFiltered, agents, columns, filterWords, columnsMenu, empty } = props;
  const workspace = useWorkspace();
  const [selection, setSelection] = useState<RunSelection>(nothingSelected);
  const isSelecting = selection.kind === "all" || selection.keys.size > 0;
  // The list needs no refetch when the tab is shown again: live events announce its new rows.
  const list = useList({ ...runsQuery(workspace, filters), refetchOnWindowFocus: false });
  // While rows are selected, no row is inserted, not even at the top of the page.
  const newRuns = useNewRuns(filters, isSelecting);
  const live = useLiveRuns([...list.rows, ...newRuns.waiting]);
  const isWide = useMedia("(min-width: 1100px)");
  const isNarrow = !useMedia("(min-width: 768px)");
  const rows = useMemo(() => list.rows.map((run) => patched(run, live)), [list.rows, live]);
  const hasAgent = columns.includes("agent");
  const byName = useMemo(
    () => ({
      ...runColumns(agents, isWide),
      ...(isNarrow ? { input: narrowColumn(agents, hasAgent) } : {}),
    }),
    [agents, isWide, isNarrow, hasAgent],
  );
  // Memoized, so that loading a further page does not render all rows again.
  const shownColumns = useMemo(
    () => columns.filter((name) => !isNarrow || name !== "state").map((name) => byName[name]),
    [columns, isNarrow, byName],
  );
  const keys = useMemo(
    () => (selection.kind === "all" ? new Set(rows.map(({ id }) => id)) : selection.keys),
    [selection, rows],
  );
  const searching = list.isSearching ? (list.data?.pages.at(-1)?.next ?? undefined) : undefined;
  const canChange = workspace.can("runs:write");
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex min-h-control-small flex-wrap items-center gap-x-2 gap-y-1 text-dense text-ink-2">
        {isSelecting ? (
          <BulkBar
            selection={selection}
            onChange={setSelection}
            rows={rows}
            filters={filters}
            filterWords={filterWords}
          />
        ) : (
          <ListSummary
            rows={rows}
            hasMore={list.hasNextPage}
            isNewest={!isFiltered}
            searching={searching}
          />
        )}
        <span className="ml-auto max-sm:hidden">{columnsMenu}</span>
      </div>
      <div className="min-w-0 rounded-control border border-rule bg-sheet">
        <NewRunsButton count={newRuns.count} isMore={newRuns.isMore} onShow={newRuns.show} />
        <DataTable
          label={label}
          columns={shownColumns}
          density={isNarrow ? "double" : "normal"}
          rows={rows}
          rowKey={({ id }) => id}
          rowHref={({ id }) => `/w/${workspace.id}/runs/${id}`}
          linkColumn="input"
          query={list}
          empty={empty}
          selection={
            canChange
              ? { keys, onChange: (chosen) => setSelection({ kind: "some", keys: chosen }) }
              : undefined
          }
        />
      </div>
    </div>
  );
}
