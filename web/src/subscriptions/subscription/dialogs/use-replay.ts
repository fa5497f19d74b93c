import type { ReplayDeliveriesBody, Subscription } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useWorkspace } from "../../../data/index.ts";
import { formatCounted } from "../../../format/index.ts";
import { useToast } from "../../../ui/index.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { replayRange } from "../../replay.ts";

/**
 * Returns a function that replays a range of deliveries, and its state.
 * @param onDone called when all deliveries of the range are pending again
 */
export function useReplay({ id }: Subscription, onDone: () => void) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [progress, setProgress] = useState(0);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (range: ReplayDeliveriesBody) =>
      replayRange(workspace.client, id, range, setProgress),
    onSuccess: (count) => {
      toast({
        tone: count === 0 ? "info" : "success",
        title:
          count === 0
            ? "There was nothing to replay"
            : `${formatCounted(count, "delivery is", "deliveries are")} pending again`,
      });
      onDone();
    },
    onSettled: () => announceChanges(queryClient, subscriptionsKey(workspace.id)),
  });
  return { replay: (range: ReplayDeliveriesBody) => mutate(range), error, isPending, progress };
}
