import type { Subscription } from "@beckon/client";
import { Button, Dialog } from "../../../ui/index.ts";
import { VerifyHelp } from "../../secret/verify-help.tsx";

interface DialogProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** How a server verifies deliveries. */
export function VerifyDialog({ subscription, close }: DialogProps) {
  return (
    <Dialog
      open
      onOpenChange={close}
      title="How to verify deliveries"
      footer={
        <Button variant="primary" onClick={close}>
          Done
        </Button>
      }
    >
      <VerifyHelp format={subscription.format} />
    </Dialog>
  );
}
