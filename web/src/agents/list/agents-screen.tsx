import { Plus } from "lucide-react";
import { ListStatus, useList, useWorkspace } from "../../data/index.ts";
import {
  Button,
  DataTable,
  FilterBar,
  type FilterDefinition,
  LinkButton,
  LinkTabs,
  PageHeader,
  SearchField,
  useChangeSearch,
} from "../../ui/index.ts";
import { useLiveAgent } from "../frame/use-live-agent.ts";
import { useSearchParameters } from "../search.ts";
import { AgentsMenu } from "./agents-menu.tsx";
import { agentColumns, deletedColumns } from "./columns.tsx";
import { NoAgents } from "./no-agents.tsx";
import { agentsQuery, filtersOf } from "./queries.ts";
import { useSearchText } from "./use-search-text.ts";

const filterDefinitions: readonly FilterDefinition[] = [
  {
    id: "paused",
    label: "State",
    options: [
      { value: "false", label: "Active" },
      { value: "true", label: "Paused" },
    ],
  },
  { id: "model", label: "Model", placeholder: "provider/model" },
];

/** All agents of the workspace, and those that were deleted and can be restored. */
export function AgentsScreen() {
  const workspace = useWorkspace();
  const search = useSearchParameters();
  const filters = filtersOf(search);
  const agents = useList(agentsQuery(workspace, filters));
  useLiveAgent(undefined);
  const path = `/w/${workspace.id}/agents`;
  const isDeleted = filters.deleted === "true";
  const change = useChangeSearch();
  const [text, setText] = useSearchText(filters.search ?? "", (next) =>
    change({ search: next === "" ? undefined : next }),
  );
  const disabledReason = workspace.whyNot("agents:write");
  const isEmpty = agents.isSuccess && agents.rows.length === 0 && Object.keys(filters).length === 0;
  const create =
    disabledReason === undefined ? (
      <LinkButton href={`${path}/new`} variant="primary" icon={Plus}>
        New agent
      </LinkButton>
    ) : (
      <Button variant="primary" icon={Plus} disabledReason={disabledReason}>
        New agent
      </Button>
    );
  return (
    <div className="flex min-w-0 flex-col">
      <title>Agents · Beckon</title>
      <PageHeader
        title="Agents"
        actions={
          <>
            {isEmpty ? null : create}
            <AgentsMenu />
          </>
        }
        tabs={
          <LinkTabs
            label="Agents"
            current={isDeleted ? `${path}?deleted=true` : path}
            tabs={[
              { label: "In use", href: path },
              { label: "Deleted", href: `${path}?deleted=true` },
            ]}
          />
        }
      />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        <FilterBar
          filters={isDeleted ? [] : filterDefinitions}
          values={{ paused: search.paused, model: search.model }}
          onChange={change}
        >
          <SearchField
            label="Search agents"
            placeholder="Search name or description"
            value={text}
            onChange={setText}
            slash
          />
        </FilterBar>
        <ListStatus query={agentsQuery(workspace, filters)} />
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label={isDeleted ? "Deleted agents" : "Agents"}
            columns={isDeleted ? deletedColumns : agentColumns}
            rows={agents.rows}
            rowKey={({ id }) => id}
            rowHref={isDeleted ? undefined : ({ id }) => `${path}/${id}`}
            query={agents}
            empty={<NoAgents filters={filters} action={create} />}
          />
        </div>
      </div>
    </div>
  );
}
