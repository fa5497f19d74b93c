import type { Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, useWorkspace } from "../../../data/index.ts";
import { ConfirmDialog, useToast } from "../../../ui/index.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { nameOf } from "../../name.ts";
import { subscriptionQuery } from "../../queries.ts";

interface DialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Asks for confirmation, then pauses the subscription. */
export function PauseDialog({ subscription, close }: DialogProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const name = nameOf(subscription);
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Pause the subscription ${name}?`}
      effect="Nothing is sent until you resume it. Events of that time become deliveries that were not sent. You can replay them until they or their runs are deleted, by default after 30 days."
      confirmLabel="Pause subscription"
      pendingText="Pausing…"
      danger={false}
      onConfirm={async () => {
        const paused = await workspace.client.subscriptions.pause(subscription.id);
        queryClient.setQueryData(subscriptionQuery(workspace, subscription.id).queryKey, paused);
        toast({ tone: "success", title: `Paused ${name}` });
        void announceChanges(queryClient, subscriptionsKey(workspace.id));
      }}
    />
  );
}
