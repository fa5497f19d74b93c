import type { Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, useWorkspace } from "../../../data/index.ts";
import { formatCounted } from "../../../format/index.ts";
import { ConfirmDialog, useNavigateFrom, useToast } from "../../../ui/index.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { nameOf } from "../../name.ts";
import { subscriptionKey } from "../../queries.ts";

interface DialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Deletes a subscription, which cancels its pending deliveries. */
export function DeleteDialog({ subscription, close }: DialogProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const navigateFrom = useNavigateFrom();
  const list = `/w/${id}/subscriptions`;
  const toast = useToast();
  const name = nameOf(subscription);
  const { pending } = subscription.health;
  const cancelled =
    pending === 0
      ? ""
      : ` ${formatCounted(pending, "pending delivery", "pending deliveries")} will not be sent.`;
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the subscription ${name}?`}
      effect={`Nothing more is sent to its receiver.${cancelled} Its deliveries can no longer be read. This cannot be undone.`}
      confirmLabel="Delete subscription"
      pendingText="Deleting…"
      onConfirm={async () => {
        const navigate = navigateFrom(`${list}/${subscription.id}`);
        await client.subscriptions.delete(subscription.id);
        await navigate({ href: list, replace: true });
        queryClient.removeQueries({ queryKey: subscriptionKey(id, subscription.id) });
        toast({ tone: "success", title: `Deleted ${name}` });
        void announceChanges(queryClient, subscriptionsKey(id));
      }}
    />
  );
}
