import type { Subscription } from "@beckon/client";
import { Redo2 } from "lucide-react";
import { useMemo } from "react";
import { heldWhileScrolled, ListStatus, useList, useWorkspace } from "../../data/index.ts";
import {
  Button,
  DataTable,
  EmptyState,
  FilterBar,
  type FilterDefinition,
  NewRowsButton,
  Panel,
  useMedia,
} from "../../ui/index.ts";
import { deliveryColumns } from "../delivery-columns.tsx";
import { eventTypes } from "../events.ts";
import { deliveriesQuery } from "../queries.ts";
import { whyNoReplay } from "../replayable.ts";
import { deliveryStatuses, useSubscriptionSearch } from "./search.ts";
import { useLiveDeliveries } from "./use-live-deliveries.ts";

const statusLabel = (status: string) =>
  (status.charAt(0).toUpperCase() + status.slice(1)).replace("_", " ");

const filters: readonly FilterDefinition[] = [
  {
    id: "status",
    label: "State",
    options: deliveryStatuses.map((value) => ({ value, label: statusLabel(value) })),
    multiple: true,
  },
  {
    id: "type",
    label: "Event",
    options: eventTypes.map((value) => ({ value, label: value })),
    multiple: true,
  },
  { id: "run_id", label: "Run", placeholder: "run_…" },
];

/** The deliveries of a subscription, newest first, updated live. */
export function DeliveriesPanel({ subscription }: { readonly subscription: Subscription }) {
  const workspace = useWorkspace();
  const search = useSubscriptionSearch();
  const list = useList({
    ...deliveriesQuery(workspace, subscription.id, search.filters),
    ...heldWhileScrolled,
  });
  const news = useLiveDeliveries(subscription, search.filters, list.rows);
  const isNarrow = !useMedia("(min-width: 768px)");
  const columns = useMemo(() => deliveryColumns({ isNarrow, about: "run" }), [isNarrow]);
  const isFiltered = Object.keys(search.filters).length > 0;
  return (
    <Panel
      title="Deliveries"
      padding="none"
      actions={
        <Button
          size="small"
          icon={Redo2}
          onClick={() => search.show("replay")}
          disabledReason={workspace.whyNot("subscriptions:write") ?? whyNoReplay(subscription)}
        >
          Replay
        </Button>
      }
    >
      <div className="border-b border-rule px-4 py-2">
        <FilterBar filters={filters} values={search.values} onChange={search.change} />
      </div>
      <ListStatus query={deliveriesQuery(workspace, subscription.id, search.filters)} />
      <NewRowsButton
        label={news.hasNews ? "New deliveries" : undefined}
        announcement="There are new deliveries."
        onShow={news.show}
      />
      <DataTable
        label="Deliveries"
        density={isNarrow ? "double" : "normal"}
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/w/${workspace.id}/subscriptions/${subscription.id}/deliveries/${id}`}
        linkColumn="type"
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              action={
                <Button
                  onClick={() =>
                    search.change({ status: undefined, type: undefined, run_id: undefined })
                  }
                >
                  Clear filters
                </Button>
              }
            >
              No delivery matches these filters. Old deliveries are deleted, by default after 30
              days.
            </EmptyState>
          ) : (
            <EmptyState>
              Nothing was delivered yet. Send a test, or start a run: each event appears here when
              it is sent.
            </EmptyState>
          )
        }
      />
    </Panel>
  );
}
