import type { Subscription } from "@beckon/client";
import { useState } from "react";
import { serverNow } from "../../../data/index.ts";
import { formatCount } from "../../../format/index.ts";
import {
  Button,
  Dialog,
  FormError,
  PastRangeFields,
  RadioCards,
  usePastRange,
} from "../../../ui/index.ts";
import { useReplay } from "./use-replay.ts";

interface ReplayDialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Sends deliveries again: those that were missed, or all, in a time range. */
export function ReplayDialog({ subscription, close }: ReplayDialogProps) {
  const { replay, error, isPending, progress } = useReplay(subscription, close);
  const [which, setWhich] = useState<"missed" | "all">("missed");
  // While the receiver fails, deliveries of days can wait. The range is that of their creation.
  const range = usePastRange(serverNow, subscription.health.failing_since === null ? "day" : "all");
  const submit = () => {
    const chosen = range.read(which);
    if (chosen === undefined) return;
    replay({
      ...chosen,
      which,
    });
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Replay deliveries"
      description="They are sent again with the same webhook-id, so that your server can recognise them."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            onClick={submit}
            pending={isPending}
            pendingText={progress === 0 ? "Replaying…" : `Replayed ${formatCount(progress)}…`}
          >
            Replay
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <RadioCards
          label="Which deliveries?"
          columns={2}
          value={which}
          onChange={setWhich}
          options={[
            {
              value: "missed",
              label: "Missed",
              hint: "Failed, not sent, or waiting to be repeated.",
            },
            { value: "all", label: "All", hint: "Also those that succeeded." },
          ]}
        />
        <PastRangeFields label="Since when?" range={range} />
        <FormError error={error} />
      </div>
    </Dialog>
  );
}
