import { useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../data/index.ts";
import { formatCount, formatDate, fromZoned, toZoned } from "../format/index.ts";
import { download } from "../json/index.ts";
import { useAgentNames } from "../runs/index.ts";
import {
  Button,
  FilterBar,
  PageHeader,
  Panel,
  type SearchTexts,
  SegmentedControl,
  sentenceOf,
  useChangeSearch,
  useTextAtNow,
  useTimeZone,
  useToast,
} from "../ui/index.ts";
import { DayPanel } from "./day-panel.tsx";
import { GroupTable } from "./group-table.tsx";
import {
  csvQuery,
  filtersOf,
  type Grouping,
  groupingOf,
  measureOf,
  runFiltersOf,
  type UsageFilters,
  type UsageSearch,
} from "./queries.ts";
import { addDays, shownDays } from "./range.ts";
import { RangeFields } from "./range-fields.tsx";
import { TotalsRow } from "./totals-row.tsx";
import { usageFilters } from "./usage-filters.ts";
import { useUsage } from "./use-usage.ts";

const groupingOptions = [
  { value: "agent", label: "Agent" },
  { value: "model", label: "Model" },
  { value: "caller", label: "Caller" },
] as const satisfies readonly { value: Grouping; label: string }[];

const groupNouns = { agent: "agents", model: "models", caller: "callers" } as const;

/** What the workspace used, and what it cost: by day, and by agent, model or caller. */
export function UsageScreen() {
  const workspace = useWorkspace();
  const zone = useTimeZone();
  const search: UsageSearch = useSearch({ strict: false });
  const agents = useAgentNames();
  const today = useTextAtNow((nowMs) => toZoned(nowMs, zone).slice(0, 10));
  const filters = filtersOf(search, today);
  const grouping = groupingOf(search);
  const measure = measureOf(search);
  const usage = useUsage(filters, grouping, measure);
  const { report } = usage;
  const [isSaving, save] = useSaveCsv(filters, grouping, today);
  const change = useChangeSearch();
  /** Shows the same usage in another way. */
  const show = (view: SearchTexts) => change(view, { keepsScroll: true });
  const { agent_id, model, caller, tag } = search;
  const runFilters = workspace.can("runs:read") ? runFiltersOf(filters) : undefined;
  const runsOf = (day: string) => {
    const at = (date: string) => new Date(fromZoned(`${date}T00:00`, zone) ?? 0).toISOString();
    const query = new URLSearchParams({
      ...runFilters,
      created_after: at(day),
      created_before: at(addDays(day, 1)),
    });
    return `/w/${workspace.id}/runs?${query}`;
  };
  return (
    <div className="flex min-w-0 flex-col">
      <title>Usage · Beckon</title>
      <PageHeader
        title="Usage"
        actions={
          <Button icon={Download} pending={isSaving} pendingText="Preparing…" onClick={save}>
            Download CSV
          </Button>
        }
      />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
          <RangeFields search={search} shown={report} onChange={change} />
          <FilterBar
            filters={usageFilters(agents, workspace.can("agents:read"))}
            values={{ agent_id, model, caller, tag }}
            onChange={change}
          />
        </div>
        <TotalsRow report={report} isFailed={usage.byDay.isError} />
        <DayPanel
          usage={usage}
          grouping={grouping}
          measure={measure}
          isTable={search.as === "table"}
          hrefOf={runFilters === undefined ? undefined : runsOf}
          filters={filters}
          onShow={show}
          onFilter={change}
        />
        <Panel
          title={`By ${grouping}`}
          padding="none"
          actions={
            <SegmentedControl
              label="Group by"
              options={groupingOptions}
              value={grouping}
              onChange={(group_by) => show({ group_by })}
            />
          }
        >
          <GroupTable
            groups={usage.groups}
            grouping={grouping}
            measure={measure}
            search={search}
            query={usage.byGroup}
          />
          {usage.byGroup.data?.next == null ? null : (
            <p className="border-t border-rule p-4 text-dense text-ink-2">
              {`There are more ${groupNouns[grouping]} than these ${formatCount(usage.groups.length)}, and they may have used more. The totals and the CSV file contain all of them.`}
            </p>
          )}
        </Panel>
        {report?.since == null ? null : (
          <p className="text-dense text-ink-3">
            {`Metered since ${formatDate(report.since, Date.now(), zone)}. Runs from before are not counted.`}
          </p>
        )}
      </div>
    </div>
  );
}

/**
 * Returns whether the CSV file is being prepared, and the function that saves it. A link with
 * `download` would not show why the API rejects a report, for example because it has too many rows.
 */
function useSaveCsv(
  filters: UsageFilters,
  grouping: Grouping,
  today: string,
): [boolean, () => Promise<void>] {
  const { client } = useWorkspace();
  const toast = useToast();
  const [isSaving, setIsSaving] = useState(false);
  const save = async () => {
    setIsSaving(true);
    try {
      const csv = await client.usage.getCsv(csvQuery(filters, grouping));
      const { from, to } = shownDays(filters, today);
      // With the byte order mark, Excel reads the file as UTF-8.
      download(`beckon-usage-${from}-${to}.csv`, `\uFEFF${csv}`, "text/csv");
    } catch (thrown) {
      const title = "The usage was not downloaded.";
      toast({ tone: "failure", title, description: sentenceOf(thrown) });
    } finally {
      setIsSaving(false);
    }
  };
  return [isSaving, save];
}
