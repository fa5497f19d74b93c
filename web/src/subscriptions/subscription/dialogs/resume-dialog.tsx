import type { ResumedSubscription, Subscription } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useWorkspace } from "../../../data/index.ts";
import { formatCount, formatCounted } from "../../../format/index.ts";
import { Button, Dialog, FormError } from "../../../ui/index.ts";
import { disabledBecause, nameOf } from "../../health.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { useReplay } from "./use-replay.ts";

interface ResumeDialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Enables a subscription again, then offers to replay the deliveries that it missed. */
export function ResumeDialog({ subscription, close }: ResumeDialogProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  // Keeps the subscription as it was when the dialog opened. Once it is enabled, the page refetches
  // it, and for an enabled subscription this dialog renders nothing.
  const [before] = useState(subscription);
  const name = nameOf(before);
  const resume = useMutation({
    mutationFn: async () => (await client.subscriptions.resume(before.id)).missed,
    onSuccess: () => announceChanges(queryClient, subscriptionsKey(id)),
  });
  if (resume.isSuccess)
    return <MissedDialog subscription={subscription} close={close} missed={resume.data} />;
  // Nothing to resume, for example if a person opens an old link to this dialog.
  if (before.status === "enabled") return null;
  return (
    <Dialog
      open
      onOpenChange={close}
      size="small"
      title={`Resume the subscription ${name}?`}
      description={
        before.status === "disabled"
          ? `Beckon disabled it because ${disabledBecause(before)}. New events are sent from now on. What was missed is not sent unless you then choose to.`
          : "New events are sent from now on. What was missed is not sent unless you then choose to."
      }
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            onClick={() => resume.mutate()}
            pending={resume.isPending}
            pendingText="Resuming…"
          >
            Resume subscription
          </Button>
        </>
      }
    >
      {resume.isError ? <FormError error={resume.error} /> : undefined}
    </Dialog>
  );
}

function MissedDialog({
  subscription,
  missed: { deliveries: count, since },
  close,
}: ResumeDialogProps & { readonly missed: ResumedSubscription["missed"] }) {
  const { replay, error, isPending, progress } = useReplay(subscription, close);
  const name = nameOf(subscription);
  if (count === 0 || since === null)
    return (
      <Dialog
        open
        onOpenChange={close}
        size="small"
        title={`${name} is enabled again`}
        description="No event was missed."
        footer={
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        }
      />
    );
  return (
    <Dialog
      open
      onOpenChange={close}
      size="small"
      title={`Replay what ${name} missed?`}
      description={`It is enabled again. ${formatCounted(count, "delivery was", "deliveries were")} missed. You can also replay them later, for 30 days.`}
      footer={
        <>
          <Button onClick={close}>Not now</Button>
          <Button
            variant="primary"
            onClick={() => replay({ since, which: "missed" })}
            pending={isPending}
            pendingText={progress === 0 ? "Replaying…" : `Replayed ${formatCount(progress)}…`}
          >
            {`Replay ${formatCounted(count, "delivery", "deliveries")}`}
          </Button>
        </>
      }
    >
      {error === null ? undefined : <FormError error={error} />}
    </Dialog>
  );
}
