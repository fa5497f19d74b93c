import type { ReplayDeliveriesBody, Subscription } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { announceChanges, useIdempotencyKey, useWorkspace } from "../../../data/index.ts";
import { formatCounted } from "../../../format/index.ts";
import { useLateFailure, useToast } from "../../../ui/index.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { replayRange } from "../../replay.ts";

/**
 * Returns a function that replays a range of deliveries, and its state. When the component
 * unmounts, for example because the person cancels, no further request is sent.
 * @param onDone closes the dialog; called when all deliveries of the range are pending again. It is
 *   not called after the component was unmounted: another dialog can be open by then, and `onDone`
 *   would close that one
 */
export function useReplay({ id }: Subscription, onDone: () => void) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const showLateFailure = useLateFailure("Replay");
  const [progress, setProgress] = useState(0);
  const { keyOf, release } = useIdempotencyKey();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (range: ReplayDeliveriesBody) => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      const key = keyOf(range);
      return replayRange(workspace.client, id, range, { key, onProgress: setProgress, signal });
    },
    onSuccess: (count) => {
      release();
      toast({
        tone: count === 0 ? "info" : "success",
        title:
          count === 0
            ? "There was nothing to replay"
            : `${formatCounted(count, "delivery is", "deliveries are")} pending again`,
      });
    },
    onError: showLateFailure,
    onSettled: () => void announceChanges(queryClient, subscriptionsKey(workspace.id)),
  });
  const replay = (range: ReplayDeliveriesBody) => mutate(range, { onSuccess: onDone });
  return { replay, error, isPending, progress };
}
