import { useState } from "react";
import { ListStatus, useWorkspace } from "../../data/index.ts";
import { FilterBar, useTimeZone } from "../../ui/index.ts";
import { useAgentNames } from "../agent-names.ts";
import { columnNames } from "./columns.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import { filterDefinitions } from "./filters/filter-definitions.tsx";
import { FilterWords } from "./filters/filter-words.tsx";
import type { RunFilters } from "./filters/run-filters.ts";
import { RunSearchField } from "./filters/run-search-field.tsx";
import { NoRuns } from "./no-runs.tsx";
import { runsQuery } from "./queries.ts";
import { RunsList } from "./runs-list.tsx";
import { useRunFilters } from "./use-run-filters.ts";

interface RunsTableProps {
  /** Accessible name: "Runs". */
  readonly label: string;
  /** Limits the list to an agent; the person cannot change this filter. Default: no limit. */
  readonly limitedTo?: RunFilters | undefined;
}

const everything: RunFilters = {};

/**
 * A list of runs with its filters, which are in the URL. It is updated when runs start, continue
 * and end. It must be on a page that scrolls as a whole: whether new runs are inserted depends on
 * the scroll position of the window.
 */
export function RunsTable({ label, limitedTo = everything }: RunsTableProps) {
  const workspace = useWorkspace();
  const zone = useTimeZone();
  const agents = useAgentNames();
  const state = useRunFilters(limitedTo);
  const [cleared, setCleared] = useState(0);
  const { filters, values, columns } = state;
  const surroundings = { agents, canReadAgents: workspace.can("agents:read"), zone };
  const names = columnNames.filter((name) => name !== "agent" || !("agent_id" in limitedTo));
  const clear = () => {
    state.clear();
    setCleared(cleared + 1);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <FilterBar
        filters={filterDefinitions({
          ...surroundings,
          without: ["text", ...Object.keys(limitedTo)],
        })}
        values={values}
        onChange={state.setValues}
      >
        <RunSearchField
          // A new key makes React create the field anew. So clearing all filters also clears a text
          // that was typed but not searched for yet.
          key={cleared}
          value={filters.text ?? ""}
          onSearch={(text) => state.setValues({ text: text || undefined })}
        />
      </FilterBar>
      <ListStatus query={runsQuery(workspace, filters)} />
      <RunsList
        // Other filters make another list, so the selection and the new runs that are not shown yet
        // are reset.
        key={JSON.stringify(filters)}
        label={label}
        filters={filters}
        isFiltered={state.isFiltered}
        agents={agents}
        columns={names.filter((name) => columns.includes(name))}
        filterWords={
          <FilterWords
            filters={filters}
            definitions={filterDefinitions({ ...surroundings, without: [] })}
          />
        }
        columnsMenu={<ColumnsMenu names={names} columns={columns} onChange={state.setColumns} />}
        empty={
          <NoRuns
            clearFilters={state.isFiltered ? clear : undefined}
            agentId={limitedTo.agent_id}
          />
        }
      />
    </div>
  );
}
