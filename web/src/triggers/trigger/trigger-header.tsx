import type { Trigger } from "@beckon/client";
import { EllipsisVertical, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { ConfirmDialog, IconButton, lazyPart, Menu } from "../../ui/index.ts";
import { TriggerSwitch } from "./trigger-switch.tsx";
import { useTriggerActions } from "./use-trigger-actions.ts";

const RenameTrigger = lazyPart(async () => (await import("./rename-trigger.tsx")).RenameTrigger);

/** The trigger's name, the switch that enables it, and a menu with rarer actions. */
export function TriggerHeader({ trigger }: { readonly trigger: Trigger }) {
  const { whyNot } = useWorkspace();
  const actions = useTriggerActions(trigger);
  const [open, setOpen] = useState<"rename" | "delete">();
  const close = () => setOpen(undefined);
  const disabledReason = whyNot("triggers:write");
  return (
    <header className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
      <h2
        className="min-w-0 flex-1 basis-60 truncate text-title font-semibold"
        title={trigger.name}
        dir="auto"
      >
        {trigger.name}
      </h2>
      <div className="flex items-center gap-3">
        <TriggerSwitch trigger={trigger} field="enabled" label="Enabled" />
        <Menu
          label="More about this trigger"
          trigger={
            <IconButton icon={EllipsisVertical} label="More about this trigger" tooltip={false} />
          }
          items={[
            { label: "Rename", icon: Pencil, onSelect: () => setOpen("rename"), disabledReason },
            "separator",
            {
              label: "Delete",
              icon: Trash2,
              danger: true,
              onSelect: () => setOpen("delete"),
              disabledReason,
            },
          ]}
        />
      </div>
      {open === "rename" ? <RenameTrigger trigger={trigger} onClose={close} /> : null}
      <ConfirmDialog
        open={open === "delete"}
        onOpenChange={close}
        title={`Delete trigger ${trigger.name}?`}
        effect="Its URL stops at once and cannot be restored: callers need the URL of another trigger. Runs that it started continue and stay readable."
        confirmLabel="Delete trigger"
        pendingText="Deleting…"
        onConfirm={actions.remove}
      />
    </header>
  );
}
