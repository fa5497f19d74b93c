import { useWorkspace } from "../data/index.ts";
import { type Column, DataTable, EmptyState } from "../ui/index.ts";
import { GroupName } from "./group-name.tsx";
import { type Measure, measures } from "./measure.ts";
import { numberColumn } from "./number-column.tsx";
import type { Grouping, UsageSearch } from "./queries.ts";
import type { UsageGroup } from "./series.ts";
import { UsageCost } from "./usage-cost.tsx";
import type { useUsage } from "./use-usage.ts";

interface GroupTableProps {
  readonly groups: readonly UsageGroup[];
  readonly grouping: Grouping;
  /** On a phone, the table shows only this measure. */
  readonly measure: Measure;
  readonly search: UsageSearch;
  readonly query: ReturnType<typeof useUsage>["byGroup"];
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
export function GroupTable({ groups, grouping, measure, search, query }: GroupTableProps) {
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
      query={query}
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
    numberColumn(
      "calls",
      "Calls",
      88,
      measure === "calls" ? undefined : "sm",
      ({ entries }) => entries,
    ),
    ...(measure === "tokens"
      ? [numberColumn("tokens", "Tokens", 120, undefined, measures.tokens.amountOf)]
      : []),
    numberColumn("input", "Input tokens", 120, "md", ({ input_tokens }) => input_tokens),
    numberColumn(
      "cached",
      "From cache",
      104,
      "xl",
      ({ cached_input_tokens }) => cached_input_tokens,
    ),
    numberColumn("output", "Output tokens", 120, "md", ({ output_tokens }) => output_tokens),
    numberColumn("reasoning", "Reasoning", 96, "xl", ({ reasoning_tokens }) => reasoning_tokens),
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
