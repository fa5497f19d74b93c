import type { Delivery, DeliveryDetails, Subscription } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Redo2, SquareTerminal } from "lucide-react";
import {
  announceChanges,
  failureWords,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { Button, CodeBlock, Popover, useNow, useToast } from "../../ui/index.ts";
import { subscriptionsKey } from "../list-query.ts";
import type { DeliveryAttempt } from "../queries.ts";
import { whyNotReplayed } from "../replayable.ts";
import { curlOf } from "./curl.ts";

interface DeliveryActionsProps {
  readonly subscription: Subscription;
  readonly delivery: DeliveryDetails;
  readonly attempt: DeliveryAttempt | undefined;
}

/** The buttons of a delivery: one shows its request as a curl command, the other replays it. */
export function DeliveryActions({ subscription, delivery, attempt }: DeliveryActionsProps) {
  const { id, client, whyNot, timeZone } = useWorkspace();
  const nowMs = useNow();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { keyOf, release } = useIdempotencyKey();
  const replay = useMutation({
    mutationFn: (): Promise<Delivery> =>
      client.deliveries.replay(subscription.id, delivery.id, {
        idempotencyKey: keyOf([delivery.id, delivery.finished_at, delivery.status]),
      }),
    onSuccess: () => {
      release();
      toast({ tone: "success", title: "The delivery is pending again" });
    },
    onError: (thrown) =>
      toast({
        tone: "failure",
        ...failureWords(
          thrown,
          "The delivery was not replayed.",
          "the delivery was replayed",
          "If it was, this page shows it as pending or with a new attempt. If not, replay it again.",
        ),
      }),
    onSettled: () => announceChanges(queryClient, subscriptionsKey(id)),
  });
  const curl = curlOf(subscription, delivery, attempt);
  return (
    <>
      {curl === undefined ? (
        <Button icon={SquareTerminal} disabledReason="There is no body to send.">
          curl
        </Button>
      ) : (
        <Popover
          label="curl command"
          align="end"
          trigger={
            <Button icon={SquareTerminal} aria-label="Show the curl command">
              curl
            </Button>
          }
        >
          <div className="flex w-88 max-w-full flex-col gap-2 p-1">
            <CodeBlock code={curl} label="curl command" variant="wrap" />
            <p className="text-label text-ink-3">
              Without the signature and the extra headers, so a receiver that verifies rejects it.
            </p>
          </div>
        </Popover>
      )}
      <Button
        variant={delivery.status === "failed" ? "primary" : "secondary"}
        icon={Redo2}
        onClick={() => replay.mutate()}
        pending={replay.isPending}
        pendingText="Replaying…"
        disabledReason={
          whyNot("subscriptions:write") ??
          whyNotReplayed(subscription, delivery, { nowMs, timeZone })
        }
      >
        Replay
      </Button>
    </>
  );
}
