import type { Agent } from "@beckon/client";
import { Copy, Download, EllipsisVertical, Pause, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Button, ConfirmDialog, IconButton, lazyPart, Menu } from "../../ui/index.ts";
import { useAgentActions } from "./use-agent-actions.ts";

const PauseDialog = lazyPart(async () => (await import("./pause-dialog.tsx")).PauseDialog);

/** The button that pauses or resumes the agent, and a menu with rarer actions. */
export function AgentActions({ agent }: { readonly agent: Agent }) {
  const { whyNot } = useWorkspace();
  const actions = useAgentActions(agent);
  const [open, setOpen] = useState<"pause" | "delete">();
  const close = () => setOpen(undefined);
  const disabledReason = whyNot("agents:write");
  return (
    <>
      {agent.paused_by === "member" ? (
        <Button
          icon={Play}
          onClick={actions.resume}
          pending={actions.isResuming}
          pendingText="Resuming…"
          disabledReason={disabledReason}
        >
          Resume
        </Button>
      ) : (
        <Button icon={Pause} onClick={() => setOpen("pause")} disabledReason={disabledReason}>
          Pause
        </Button>
      )}
      <Menu
        label="More about this agent"
        trigger={
          <IconButton icon={EllipsisVertical} label="More about this agent" tooltip={false} />
        }
        items={[
          { label: "Duplicate", icon: Copy, onSelect: actions.duplicate, disabledReason },
          { label: "Export as YAML", icon: Download, onSelect: () => actions.save("yaml") },
          { label: "Export as JSON", icon: Download, onSelect: () => actions.save("json") },
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
      {open === "pause" ? <PauseDialog agent={agent} close={close} /> : null}
      <ConfirmDialog
        open={open === "delete"}
        onOpenChange={close}
        title={`Delete agent ${agent.name}?`}
        effect="Its API token and its triggers stop at once. Runs that were accepted continue and stay readable; those that a pause holds stay held. For 30 days you can restore it: then it has no token until you issue one, and its triggers are disabled until you enable them."
        confirmLabel="Delete agent"
        pendingText="Deleting…"
        onConfirm={actions.remove}
      />
    </>
  );
}
