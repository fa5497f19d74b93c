import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../../data/index.ts";
import { lazyPart, useEverTrue } from "../../../ui/index.ts";
import { type Act, useSubscriptionSearch } from "../search.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { PauseDialog } from "./pause-dialog.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { ResumeDialog } from "./resume-dialog.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { TestDialog } from "./test-dialog.tsx";
import { VerifyDialog } from "./verify-dialog.tsx";

const EditSubscription = lazyPart(
  async () => (await import("../../form/forms.ts")).EditSubscription,
);

/** The dialog that the URL names. */
export function ActDialogs({ subscription }: { readonly subscription: Subscription }) {
  const { act, show } = useSubscriptionSearch();
  if (act === undefined) return null;
  const close = () => show(undefined);
  return <ActDialog key={act} act={act} subscription={subscription} close={close} />;
}

interface ActDialogProps {
  readonly act: Act;
  readonly subscription: Subscription;
  readonly close: () => void;
}

function ActDialog({ act, ...props }: ActDialogProps) {
  const { can } = useWorkspace();
  const isEditor = useEverTrue(can("subscriptions:write"));
  const isEnabled = useEverTrue(props.subscription.status === "enabled");
  if (act === "verify") return <VerifyDialog {...props} />;
  if (!isEditor) return null;
  switch (act) {
    case "edit":
      return <EditSubscription {...props} />;
    case "pause":
      return isEnabled ? <PauseDialog {...props} /> : null;
    // Rendered for an enabled subscription too: after the dialog has enabled the subscription, it
    // stays open and offers to replay missed deliveries.
    case "resume":
      return <ResumeDialog {...props} />;
    case "replay":
      return isEnabled ? <ReplayDialog {...props} /> : null;
    case "rotate":
      return <RotateSecret {...props} />;
    case "test":
      return isEnabled ? <TestDialog {...props} /> : null;
    case "delete":
      return <DeleteDialog {...props} />;
  }
}
