import type { Subscription } from "@beckon/client";
import { EllipsisVertical, Pause, Pencil, Redo2, RotateCw, Trash2 } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { Button, IconButton, Menu } from "../../ui/index.ts";
import { whyNoReplay } from "../replayable.ts";
import { useSubscriptionSearch } from "./search.ts";

/** The buttons that pause and test a subscription, and the menu with its other actions. */
export function SubscriptionActions({ subscription }: { readonly subscription: Subscription }) {
  const { whyNot } = useWorkspace();
  const { show } = useSubscriptionSearch();
  const disabledReason = whyNot("subscriptions:write");
  const isEnabled = subscription.status === "enabled";
  const label = "More about this subscription";
  return (
    <>
      {isEnabled ? (
        <Button icon={Pause} onClick={() => show("pause")} disabledReason={disabledReason}>
          Pause
        </Button>
      ) : null}
      <Button
        // While the subscription is not enabled, Resume in the notice is the primary action.
        variant={isEnabled ? "primary" : "secondary"}
        onClick={() => show("test")}
        disabledReason={
          disabledReason ??
          (isEnabled ? undefined : `The subscription is ${subscription.status}. Resume it first.`)
        }
      >
        Send test
      </Button>
      <Menu
        label={label}
        trigger={<IconButton icon={EllipsisVertical} label={label} tooltip={false} />}
        items={[
          { label: "Edit", icon: Pencil, onSelect: () => show("edit"), disabledReason },
          {
            label: "Replay deliveries",
            icon: Redo2,
            onSelect: () => show("replay"),
            disabledReason: disabledReason ?? whyNoReplay(subscription),
          },
          {
            label: "Rotate the secret",
            icon: RotateCw,
            onSelect: () => show("rotate"),
            disabledReason,
          },
          "separator",
          {
            label: "Delete",
            icon: Trash2,
            danger: true,
            onSelect: () => show("delete"),
            disabledReason,
          },
        ]}
      />
    </>
  );
}
