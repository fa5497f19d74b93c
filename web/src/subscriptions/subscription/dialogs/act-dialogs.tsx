import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../../data/index.ts";
import { lazyPart } from "../../../ui/index.ts";
import { whyNotReplayed } from "../../health.ts";
import { needsEditor } from "../../permission.ts";
import { useSubscriptionSearch } from "../search.ts";
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
  const { can } = useWorkspace();
  const { act, show } = useSubscriptionSearch();
  const close = () => show(undefined);
  if (act === "verify") return <VerifyDialog subscription={subscription} close={close} />;
  if (needsEditor(can) !== undefined) return null;
  const props = { subscription, close };
  const isEnabled = subscription.status === "enabled";
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
      return whyNotReplayed(subscription) === undefined ? <ReplayDialog {...props} /> : null;
    case "rotate":
      return <RotateSecret {...props} />;
    case "test":
      return isEnabled ? <TestDialog {...props} /> : null;
    case "delete":
      return <DeleteDialog {...props} />;
    default:
      return null;
  }
}
