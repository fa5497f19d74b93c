import { useWorkspace } from "../data/index.ts";
import { formatCount } from "../format/index.ts";
import { type Column, DataTable, EmptyState } from "../ui/index.ts";
import { GroupName } from "./group-name.tsx";
import { type Measure, measures } from "./measure.ts";
import type { Grouping, UsageSearch } from "./queries.ts";
import type { UsageGroup } from "./series.ts";
import { UsageCost } from "./usage-cost.tsx";

interface GroupTableProps {
  readonly groups: readonly UsageGroup[];
  readonly grouping: Grouping;
  /** On a phone, the table shows only this measure. */
  readonly measure: Measure;
  readonly search: UsageSearch;
  readonly loading: boolean;
  readonly error: unknown;
  readonly onRetry: () => unknown;
}

/**
 * For each grouping, what a click on a group sets: the filter for the group, and the next grouping.
 */
const deeper = {
  agent: { filter: "agent_id", group_by: "model" },
  model: { filter: "model", group_by: "agent" },
  caller: { filter: "caller", group_by: "agent" },
} as const;

const headers = { agent: "Agent", model: "Model", caller: "Caller" } as const;

/**
 * The groups, the largest first, in the colours of the chart. A click on a row limits the report to
 * its group.
 */
export function GroupTable(props: GroupTableProps) {
  const { groups, grouping, measure, search, loading, error, onRetry } = props;
  const { id } = useWorkspace();
  const { filter, group_by } = deeper[grouping];
  const hrefOf = ({ key }: UsageGroup) =>
    `/w/${id}/usage?${new URLSearchParams({ ...search, [filter]: key, group_by })}`;
  return (
    <DataTable
      label={`Usage by ${grouping}`}
      columns={columnsFor(grouping, measure)}
      rows={groups}
      rowKey={({ key }) => key}
      rowHref={hrefOf}
      loading={loading}
      error={error}
      onRetry={onRetry}
      empty={<EmptyState>Nothing was used in this period.</EmptyState>}
    />
  );
}

function columnsFor(grouping: Grouping, measure: Measure): readonly Column<UsageGroup>[] {
  return [
    {
      id: "name",
      header: headers[grouping],
      cell: (group) => <GroupName group={group} grouping={grouping} />,
    },
    numbers("calls", "Calls", 88, measure === "calls" ? undefined : "sm", ({ entries }) => entries),
    ...(measure === "tokens"
      ? [numbers("tokens", "Tokens", 120, undefined, measures.tokens.amountOf)]
      : []),
    numbers("input", "Input tokens", 120, "md", ({ input_tokens }) => input_tokens),
    numbers("cached", "From cache", 104, "xl", ({ cached_input_tokens }) => cached_input_tokens),
    numbers("output", "Output tokens", 120, "md", ({ output_tokens }) => output_tokens),
    numbers("reasoning", "Reasoning", 96, "xl", ({ reasoning_tokens }) => reasoning_tokens),
    {
      id: "cost",
      header: "Cost",
      width: 112,
      from: measure === "cost" ? undefined : "sm",
      align: "end",
      cell: ({ amounts }) => <UsageCost amounts={amounts} />,
    },
  ];
}

function numbers(
  id: string,
  header: string,
  width: number,
  from: Column<UsageGroup>["from"],
  amountOf: (amounts: UsageGroup["amounts"]) => number,
): Column<UsageGroup> {
  return {
    id,
    header,
    width,
    from,
    align: "end",
    cell: ({ amounts }) => (
      <span className="font-mono text-dense">{formatCount(amountOf(amounts))}</span>
    ),
  };
}
