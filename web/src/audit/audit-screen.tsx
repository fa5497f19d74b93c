import { useNavigate, useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { ListStatus, useList, useWorkspace } from "../data/index.ts";
import {
  Button,
  DataTable,
  EmptyState,
  FilterBar,
  type FilterValues,
  LinkButton,
  PageHeader,
  useChangeSearch,
  useTimeZone,
} from "../ui/index.ts";
import { auditColumns } from "./audit-columns.tsx";
import { auditFilters } from "./audit-filters.tsx";
import { EntryDialog } from "./entry-dialog.tsx";
import { type AuditSearch, auditQuery, exportPath, filtersOf } from "./queries.ts";
import { useAuditNames } from "./use-audit-names.ts";

/**
 * The audit log: all changes in the workspace, and all reveals of secrets, newest first. The
 * filters are in the URL.
 */
export function AuditScreen() {
  const workspace = useWorkspace();
  const search: AuditSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const changeSearch = useChangeSearch();
  const filters = filtersOf(search);
  const entries = useList(auditQuery(workspace, filters));
  const { names, note } = useAuditNames(entries.rows);
  const { entry, at, ...chips } = search;
  const closed = { entry: undefined, at: undefined };
  const filter = (values: FilterValues) => changeSearch({ ...values, ...closed });
  const hrefOf = (parameters: Readonly<Record<string, string>>) =>
    `/w/${workspace.id}/audit?${new URLSearchParams({ ...filters, ...parameters })}`;
  return (
    <div className="flex min-w-0 flex-col">
      <title>Audit · Beckon</title>
      <PageHeader
        title="Audit"
        actions={
          <LinkButton
            href={exportPath(workspace.id, filters)}
            icon={Download}
            download={`audit-${workspace.id}.jsonl`}
          >
            Export
          </LinkButton>
        }
      />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        <FilterBar filters={auditFilters(names, useTimeZone())} values={chips} onChange={filter} />
        {note === "" ? null : <p className="text-dense text-ink-2">{note}</p>}
        <ListStatus query={auditQuery(workspace, filters)} />
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label="Audit log"
            columns={auditColumns(names)}
            rows={entries.rows}
            rowKey={({ id }) => id}
            rowHref={({ id, time }) => hrefOf({ entry: id, at: time })}
            currentKey={entry}
            rowOpens="details"
            query={entries}
            empty={
              <EmptyState
                action={
                  Object.keys(filters).length === 0 ? undefined : (
                    <Button onClick={() => void navigate({ to: ".", search: {}, replace: true })}>
                      Clear filters
                    </Button>
                  )
                }
              >
                {Object.keys(filters).length === 0
                  ? "Every change and every reveal of a secret appears here."
                  : "No entry matches these filters."}
              </EmptyState>
            }
          />
        </div>
      </div>
      {entry === undefined || at === undefined ? null : (
        <EntryDialog
          entryId={entry}
          at={at}
          known={entries.rows.find(({ id }) => id === entry)}
          close={() => changeSearch(closed, { closes: true, keepsScroll: true })}
        />
      )}
    </div>
  );
}
