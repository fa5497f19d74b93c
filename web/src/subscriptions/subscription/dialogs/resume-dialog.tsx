import type { ResumedSubscription, Subscription } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import {
  announceChanges,
  isOutcomeUnknown,
  useIdempotencyKey,
  useWorkspace,
} from "../../../data/index.ts";
import { formatAsOf, formatCount, formatCounted } from "../../../format/index.ts";
import { Button, Dialog, FormError, useTextAtNow, useTimeZone } from "../../../ui/index.ts";
import { whyDisabled } from "../../health.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { nameOf } from "../../name.ts";
import { useSubscriptionSearch } from "../search.ts";
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
  const { keyOf } = useIdempotencyKey();
  /** Whether a request was sent that may have enabled the subscription. */
  const isSent = useRef(false);
  const resume = useMutation({
    mutationFn: async () => {
      // If somebody else has enabled the subscription, no request is sent: the response would say
      // that nothing was missed. If the response to a request of this dialog was lost, the request
      // is repeated with the same Idempotency-Key and gets the first response.
      if (!isSent.current && (await client.subscriptions.get(before.id)).status === "enabled")
        return undefined;
      isSent.current = true;
      const idempotencyKey = keyOf([before.id, before.version]);
      return (await client.subscriptions.resume(before.id, { idempotencyKey })).missed;
    },
    onError: (thrown) => {
      if (!isOutcomeUnknown(thrown)) isSent.current = false;
    },
    // Does not wait for the refetch, so that what was missed is offered at once.
    onSuccess: () => void announceChanges(queryClient, subscriptionsKey(id)),
  });
  if (resume.isSuccess)
    return resume.data === undefined ? (
      <AlreadyEnabled name={name} close={close} />
    ) : (
      <MissedDialog subscription={subscription} close={close} missed={resume.data} />
    );
  // Nothing to resume, for example if a person opens an old link to this dialog.
  if (before.status === "enabled") return null;
  return (
    <Dialog
      open
      onOpenChange={close}
      // Closing the dialog would not stop the request, but lose the offer to replay.
      dismissible={!resume.isPending}
      size="small"
      title={`Resume the subscription ${name}?`}
      description={
        before.status === "disabled"
          ? `Beckon disabled it ${whyDisabled(before)}. New events are sent from now on. What was missed is not sent unless you then choose to.`
          : "New events are sent from now on. What was missed is not sent unless you then choose to."
      }
      footer={
        <>
          <Button onClick={close} disabled={resume.isPending}>
            Cancel
          </Button>
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

function AlreadyEnabled({ name, close }: Pick<ResumeDialogProps, "close"> & { name: string }) {
  const { show } = useSubscriptionSearch();
  return (
    <Dialog
      open
      onOpenChange={close}
      size="small"
      title={`${name} is enabled already`}
      description="It was resumed in the meantime. Events that it missed before are sent if you replay them."
      footer={
        <>
          <Button onClick={close}>Close</Button>
          <Button variant="primary" onClick={() => show("replay")}>
            Replay…
          </Button>
        </>
      }
    />
  );
}

function MissedDialog({
  subscription,
  missed: { deliveries: count, since },
  close,
}: ResumeDialogProps & { readonly missed: ResumedSubscription["missed"] }) {
  const { replay, error, isPending, progress } = useReplay(subscription, close);
  const name = nameOf(subscription);
  const zone = useTimeZone();
  const start = useTextAtNow((nowMs) =>
    since === null ? "" : formatAsOf(Date.parse(since), nowMs, zone),
  );
  if (since === null)
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
  // The server reads a bounded number of deliveries. All that it has read can be of deleted runs.
  const missed =
    count === 0
      ? "Some deliveries may have been missed: there are too many to count."
      : `${formatCounted(count, "delivery was", "deliveries were")} missed.`;
  return (
    <Dialog
      open
      onOpenChange={close}
      size="small"
      title={`Replay what ${name} missed?`}
      description={`It is enabled again. ${missed} This replays everything since ${start} that failed or was not sent. You can also do it later, until the deliveries or their runs are deleted, by default after 30 days.`}
      footer={
        <>
          <Button onClick={close}>Not now</Button>
          <Button
            variant="primary"
            onClick={() => replay({ since, which: "missed" })}
            pending={isPending}
            pendingText={progress === 0 ? "Replaying…" : `Replayed ${formatCount(progress)}…`}
          >
            Replay deliveries
          </Button>
        </>
      }
    >
      {error === null ? undefined : <FormError error={error} />}
    </Dialog>
  );
}
