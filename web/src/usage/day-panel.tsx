import type { ReactNode } from "react";
import { useWorkspace } from "../data/index.ts";
import {
  Button,
  EmptyState,
  LinkButton,
  Panel,
  Problem,
  type SearchTexts,
  SegmentedControl,
  Skeleton,
  useAsOf,
} from "../ui/index.ts";
import { DayChart } from "./day-chart.tsx";
import { DayTable } from "./day-table.tsx";
import { type Measure, measures } from "./measure.ts";
import type { Grouping, UsageFilters } from "./queries.ts";
import { largest } from "./series.ts";
import type { useUsage } from "./use-usage.ts";

const measureOptions = [
  { value: "cost", label: measures.cost.label },
  { value: "tokens", label: measures.tokens.label },
  { value: "calls", label: measures.calls.label },
] as const;

/**
 * With more bars than this, each would be narrower than a pixel on a phone, so the table is shown.
 */
const maxBars = 366;

interface DayPanelProps {
  readonly usage: ReturnType<typeof useUsage>;
  readonly grouping: Grouping;
  readonly measure: Measure;
  readonly isTable: boolean;
  /**
   * Returns the path of the list of a day's runs; undefined if the person has no permission to read
   * runs, or if the list cannot be filtered like the usage.
   */
  readonly hrefOf: ((day: string) => string) | undefined;
  /** The range and the filters of the usage. */
  readonly filters: UsageFilters;
  /** Changes how the usage is shown, in the URL; undefined removes a parameter. */
  readonly onShow: (view: SearchTexts) => void;
  /** Changes the filters in the URL; undefined removes one. */
  readonly onFilter: (filters: SearchTexts) => void;
}

/** Usage by day, as a chart or as a table. */
export function DayPanel(props: DayPanelProps) {
  const { usage, grouping, measure, isTable, hrefOf, filters, onShow, onFilter } = props;
  const { report, days, groups, byDay, parts } = usage;
  const asOf = useAsOf(byDay.dataUpdatedAt);
  const partsAsOf = useAsOf(parts.error === null ? undefined : parts.dataUpdatedAt);
  const hasTooMany = days.length > maxBars;
  return (
    <Panel
      title="By day"
      padding="none"
      actions={
        <>
          <SegmentedControl
            label="Show"
            options={measureOptions}
            value={measure}
            onChange={(show) => onShow({ show: show === "cost" ? undefined : show })}
          />
          {hasTooMany ? null : (
            <Button
              size="small"
              variant="quiet"
              onClick={() => onShow({ as: isTable ? undefined : "table" })}
            >
              {isTable ? "Show as chart" : "Show as table"}
            </Button>
          )}
        </>
      }
    >
      {byDay.isError ? (
        <div className={report === undefined ? "p-4" : "border-b border-rule p-4"}>
          <Problem
            error={byDay.error}
            title={
              report === undefined ? "Usage could not be loaded." : `This is usage as of ${asOf}.`
            }
            onRetry={byDay.refetch}
          />
        </div>
      ) : null}
      {report === undefined ? (
        byDay.isError ? null : (
          <ChartSkeleton />
        )
      ) : report.totals.entries === 0 ? (
        <NoUsage hasEver={report.since !== null} filters={filters} onFilter={onFilter} />
      ) : isTable || hasTooMany ? (
        <DayTable days={days} measure={measure} hrefOf={hrefOf} />
      ) : (
        <>
          {measure === "cost" && report.totals.cost_micros === null ? (
            <UnknownCost onShow={onShow} />
          ) : null}
          {parts.error === null ? null : (
            <div className={parts.areKnown ? "border-b border-rule p-4" : "p-4"}>
              <Problem
                error={parts.error}
                title={
                  parts.areKnown
                    ? `Usage by day and ${grouping} is as of ${partsAsOf}.`
                    : `Usage by day and ${grouping} could not be loaded.`
                }
                onRetry={parts.refetch}
              />
            </div>
          )}
          {parts.areKnown ? (
            <DayChart
              days={days}
              groups={largest(groups)}
              grouping={grouping}
              measure={measure}
              totals={report.totals}
              hrefOf={hrefOf}
            />
          ) : parts.error === null ? (
            <ChartSkeleton />
          ) : null}
        </>
      )}
    </Panel>
  );
}

function ChartSkeleton() {
  return (
    <div className="h-64 p-4">
      <Skeleton variant="block" />
    </div>
  );
}

function UnknownCost({ onShow }: Pick<DayPanelProps, "onShow">) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-rule px-4 py-3">
      <p className="min-w-0 flex-1 basis-60 text-ink-2">
        The cost is unknown: models were called for which no price is known.
      </p>
      <Button size="small" onClick={() => onShow({ show: "tokens" })}>
        Show tokens
      </Button>
    </div>
  );
}

/** The search parameters without any filter, with the default range. */
const noFilters = {
  range: undefined,
  from: undefined,
  to: undefined,
  agent_id: undefined,
  model: undefined,
  caller: undefined,
  tag: undefined,
} satisfies SearchTexts;

interface NoUsageProps extends Pick<DayPanelProps, "filters" | "onFilter"> {
  /** Whether the workspace ever used anything. */
  readonly hasEver: boolean;
}

function NoUsage({ hasEver, filters, onFilter }: NoUsageProps): ReactNode {
  const { id } = useWorkspace();
  if (!hasEver)
    return (
      <EmptyState action={<LinkButton href={`/w/${id}/agents`}>Open agents</LinkButton>}>
        Every call of a model is metered: tokens, and what they cost. Run an agent to see them here.
      </EmptyState>
    );
  const { from, to, ...others } = filters;
  const isFiltered = Object.keys(others).length > 0;
  return (
    <EmptyState
      action={
        isFiltered || from || to ? (
          <Button onClick={() => onFilter(noFilters)}>Clear filters</Button>
        ) : undefined
      }
    >
      {isFiltered
        ? "Nothing was used in this period that matches the filters."
        : "Nothing was used in this period."}
    </EmptyState>
  );
}
