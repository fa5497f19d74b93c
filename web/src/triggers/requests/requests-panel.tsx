import type { Trigger } from "@beckon/client";
import { EllipsisVertical, Radio, Redo2 } from "lucide-react";
import { useMemo } from "react";
import { heldWhileScrolled, ListStatus, useList, useWorkspace } from "../../data/index.ts";
import {
  Button,
  DataTable,
  EmptyState,
  FilterBar,
  type FilterDefinition,
  IconButton,
  Link,
  lazyPart,
  Menu,
  NewRowsButton,
  Panel,
  StatusMark,
  useMedia,
} from "../../ui/index.ts";
import { whyNoRun } from "../permission.ts";
import { ListeningBanner } from "./listening-banner.tsx";
import { LiveMark } from "./live-mark.tsx";
import { outcomes } from "./outcomes.ts";
import { requestsQuery } from "./queries.ts";
import { requestColumns } from "./request-columns.tsx";
import { useRequestSearch } from "./search.ts";
import { useListening } from "./use-listening.ts";
import { useLiveRequests } from "./use-live-requests.ts";

const ReplayRequests = lazyPart(async () => (await import("./replay-requests.tsx")).ReplayRequests);

const filters: readonly FilterDefinition[] = [
  {
    id: "outcome",
    label: "Outcome",
    options: Object.entries(outcomes).map(([value, { word }]) => ({ value, label: word })),
  },
  { id: "event_type", label: "Event", placeholder: "push" },
];

/** The requests that a trigger has received, newest first, updated live. */
export function RequestsPanel({ trigger }: { readonly trigger: Trigger }) {
  const workspace = useWorkspace();
  const search = useRequestSearch();
  const list = useList({
    ...requestsQuery(workspace, trigger, search.filters),
    ...heldWhileScrolled,
  });
  const live = useLiveRequests(trigger, search.filters, list.rows);
  const listening = useListening(trigger);
  const isNarrow = !useMedia("(min-width: 768px)");
  const isWide = useMedia("(min-width: 1440px)");
  const columns = useMemo(() => requestColumns(isNarrow, isWide), [isNarrow, isWide]);
  const isFiltered = Object.keys(search.filters).length > 0;
  const path = `/w/${workspace.id}/agents/${trigger.agent_id}/triggers/${trigger.id}`;
  const hasToolbar =
    list.rows.length > 0 || Object.values(search.values).some((v) => v !== undefined);
  return (
    <Panel
      title="Received"
      padding="none"
      actions={
        <>
          <LiveMark staleSince={live.staleSince} retry={live.retry} />
          <Menu
            label="More about received requests"
            trigger={
              <IconButton
                icon={EllipsisVertical}
                label="More about received requests"
                tooltip={false}
              />
            }
            items={[
              {
                label: "Listen for a sample",
                icon: Radio,
                onSelect: listening.start,
                disabledReason: workspace.whyNot("triggers:write"),
              },
              {
                label: "Replay many",
                icon: Redo2,
                onSelect: () => search.show("replay"),
                disabledReason: whyNoRun(workspace.whyNot),
              },
            ]}
          />
        </>
      }
    >
      <ListeningBanner trigger={trigger} listening={listening} />
      {hasToolbar ? (
        <div className="border-b border-rule px-4 py-2">
          <FilterBar filters={filters} values={search.values} onChange={search.change} />
        </div>
      ) : null}
      <ListStatus query={requestsQuery(workspace, trigger, search.filters)} />
      <NewRowsButton
        label={live.hasNews ? "New requests" : undefined}
        announcement="There are new requests."
        onShow={live.show}
      />
      <DataTable
        label="Received requests"
        density={isNarrow ? "double" : "normal"}
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `${path}/requests/${id}`}
        linkColumn="event"
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              action={
                <Button
                  onClick={() => search.change({ outcome: undefined, event_type: undefined })}
                >
                  Clear filters
                </Button>
              }
            >
              No request matches these filters. Old requests are deleted, by default after 30 days.
            </EmptyState>
          ) : (
            <EmptyState>
              <StatusMark status="waiting" word="Waiting for the first request" />
              <span className="block pt-1">
                It appears here as soon as the sender posts to the URL. Requests from before the
                trigger had settings are kept as{" "}
                <Link href={`/w/${workspace.id}/runs?trigger_id=${trigger.id}`}>its runs</Link>.
              </span>
            </EmptyState>
          )
        }
      />
      {search.act === "replay" && whyNoRun(workspace.whyNot) === undefined ? (
        <ReplayRequests trigger={trigger} close={() => search.show(undefined)} />
      ) : null}
    </Panel>
  );
}
