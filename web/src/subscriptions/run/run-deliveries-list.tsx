import type { Run } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useList, useWorkspace } from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { DataTable, EmptyState, LinkButton, useMedia } from "../../ui/index.ts";
import { deliveryColumns } from "../delivery-columns.tsx";
import { runDeliveriesQuery } from "../queries.ts";
import { useDeliveryPoll } from "../use-delivery-poll.ts";

const minIntervalMs = 2_000;

/** The deliveries about a run, updated live. */
export function RunDeliveriesList({ run }: { readonly run: Pick<Run, "id"> }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const query = runDeliveriesQuery(workspace, run.id);
  const list = useList(query);
  const isNarrow = !useMedia("(min-width: 768px)");
  const readAgain = useThrottled(
    () => queryClient.invalidateQueries({ queryKey: query.queryKey }),
    minIntervalMs,
  );
  useEvents((events) => {
    if (events.some((event) => event.run_id === run.id)) readAgain();
  });
  useDeliveryPoll(list.rows, readAgain);
  return (
    <div className="min-w-0 rounded-control border border-rule bg-sheet">
      <DataTable
        label="Deliveries"
        density={isNarrow ? "double" : "normal"}
        columns={deliveryColumns({ isNarrow, about: "url" })}
        rows={list.rows}
        rowKey={({ id, subscription_id }) => `${subscription_id} ${id}`}
        rowHref={({ id, subscription_id }) =>
          `/w/${workspace.id}/subscriptions/${subscription_id}/deliveries/${id}`
        }
        linkColumn="type"
        query={list}
        empty={
          <EmptyState
            action={
              <LinkButton href={`/w/${workspace.id}/subscriptions`}>Show subscriptions</LinkButton>
            }
          >
            No delivery is stored about this run: no subscription asked for its events, or the
            deliveries were deleted, by default after 30 days.
          </EmptyState>
        }
      />
    </div>
  );
}
