import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Button } from "../../ui/index.ts";
import { useSubscriptionSearch } from "./search.ts";

/** Opens the dialog that enables the subscription again. */
export function ResumeButton({ subscription }: { readonly subscription: Subscription }) {
  const { whyNot } = useWorkspace();
  const { show } = useSubscriptionSearch();
  return (
    <Button
      size="small"
      variant="primary"
      onClick={() => show("resume")}
      disabledReason={whyNot("subscriptions:write")}
      aria-label={`Resume this ${subscription.status} subscription`}
    >
      Resume
    </Button>
  );
}
