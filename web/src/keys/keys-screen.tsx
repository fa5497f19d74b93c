import { useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useList, useWorkspace } from "../data/index.ts";
import { Button, CurlLine, DataTable, EmptyState, PageHeader, useShowDialog } from "../ui/index.ts";
import { keyColumns } from "./columns.tsx";
import { KeyDialogs } from "./key-dialogs.tsx";
import { keysQuery } from "./queries.ts";

/** The workspace's API keys. */
export function KeysScreen() {
  const workspace = useWorkspace();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const keys = useList(keysQuery(workspace));
  const disabledReason = workspace.whyNot("keys:write");
  const show = useShowDialog();
  const isEmpty = keys.isSuccess && keys.rows.length === 0 && !keys.hasNextPage;
  const create = (
    <Button
      variant="primary"
      icon={Plus}
      disabledReason={disabledReason}
      onClick={() => show({ new: "1" })}
    >
      New key
    </Button>
  );
  return (
    <div className="flex min-w-0 flex-col">
      <title>Keys · Beckon</title>
      <PageHeader title="Keys" actions={isEmpty ? undefined : create}>
        <p className="text-ink-2">Credentials with which your systems call the API.</p>
      </PageHeader>
      <div className="flex min-w-0 flex-col p-4 md:p-6">
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label="Keys"
            columns={keyColumns(({ id }, act) => show({ key: id, act }))}
            rows={keys.rows}
            rowKey={({ id }) => id}
            rowHref={({ id }) => `/w/${workspace.id}/keys?key=${id}`}
            currentKey={search.key}
            rowOpens="details"
            query={keys}
            empty={
              <EmptyState
                action={create}
                snippet={<CurlLine path="/agents/AGENT_ID/invoke" body={'{"input": "Hello"}'} />}
              >
                A key lets your own system call Beckon: start runs, read them, or manage agents.
              </EmptyState>
            }
          />
        </div>
      </div>
      <KeyDialogs rows={keys.rows} search={search} show={show} />
    </div>
  );
}
