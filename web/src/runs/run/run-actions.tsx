import type { Run } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import {
  Ban,
  ChevronDown,
  Download,
  EllipsisVertical,
  MessageSquare,
  RotateCw,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { agentQuery } from "../../agents/index.ts";
import { useWorkspace } from "../../data/index.ts";
import { Button, ConfirmDialog, IconButton, LinkButton, lazyPart, Menu } from "../../ui/index.ts";
import { isEnded } from "../patch-run.ts";
import { useRunActions } from "./use-run-actions.ts";

const RetryDialog = lazyPart(async () => (await import("./retry-dialog.tsx")).RetryDialog);

/** The actions on a run: retry it, cancel it while it has not ended, and a menu with rarer ones. */
export function RunActions({ run }: { readonly run: Run }) {
  const workspace = useWorkspace();
  const actions = useRunActions(run);
  const [open, setOpen] = useState<"cancel" | "delete" | "input">();
  const close = () => setOpen(undefined);
  const hasEnded = isEnded(run);
  const disabledReason = workspace.whyNot("runs:write");
  return (
    <>
      <LinkButton
        icon={MessageSquare}
        href={`/w/${workspace.id}/agents/${run.agent_id}/playground?run=${run.id}`}
      >
        Open in playground
      </LinkButton>
      {hasEnded ? (
        <Retry
          run={run}
          actions={actions}
          disabledReason={disabledReason}
          onEdit={() => setOpen("input")}
        />
      ) : (
        <Button icon={Ban} onClick={() => setOpen("cancel")} disabledReason={disabledReason}>
          Cancel run
        </Button>
      )}
      <Menu
        label="More about this run"
        trigger={<IconButton icon={EllipsisVertical} label="More about this run" tooltip={false} />}
        items={[
          { label: "Download journal", icon: Download, onSelect: actions.saveJournal },
          "separator",
          {
            label: "Delete run",
            icon: Trash2,
            danger: true,
            onSelect: () => setOpen("delete"),
            disabledReason: hasEnded
              ? disabledReason
              : "A run can be deleted when it has ended. Cancel it first.",
          },
        ]}
      />
      {open === "input" ? (
        <RetryDialog
          run={run}
          retry={actions.retryWith}
          openFromHere={actions.openFromHere}
          close={close}
        />
      ) : null}
      <ConfirmDialog
        open={open === "cancel"}
        onOpenChange={close}
        title="Cancel this run?"
        effect="It stops as soon as it can be stopped. What its tools have done so far stays done."
        confirmLabel="Cancel run"
        pendingText="Cancelling…"
        onConfirm={actions.cancel}
      />
      <ConfirmDialog
        open={open === "delete"}
        onOpenChange={close}
        title="Delete this run?"
        effect="Its input, output, journal and files are deleted. This cannot be undone."
        confirmLabel="Delete run"
        pendingText="Deleting…"
        onConfirm={actions.remove}
      />
    </>
  );
}

interface RetryProps {
  readonly run: Run;
  readonly actions: ReturnType<typeof useRunActions>;
  readonly disabledReason: string | undefined;
  readonly onEdit: () => void;
}

function Retry({ run, actions, disabledReason, onEdit }: RetryProps) {
  const workspace = useWorkspace();
  const { data: agent } = useQuery(agentQuery(workspace, run.agent_id));
  const button = (
    <Button
      // After a success, few people want a retry, so its button is not primary.
      variant={run.status === "succeeded" ? "secondary" : "primary"}
      icon={RotateCw}
      pending={actions.isRetrying}
      pendingText="Retrying…"
      disabledReason={disabledReason}
    >
      <span className="inline-flex items-center gap-1">
        Retry <ChevronDown aria-hidden />
      </span>
    </Button>
  );
  if (disabledReason !== undefined) return button;
  const isDraft = run.source === "draft";
  const isUnmapped = run.error?.code === "mapping_error";
  const sameInput = isUnmapped ? "The agent never got this request. Replay it instead." : undefined;
  const triggerPath = `/w/${workspace.id}/agents/${run.agent_id}/triggers/${run.trigger_id}`;
  const current = agent === undefined ? "" : ` ${agent.version}`;
  const isSame = agent?.version === run.agent_version;
  return (
    <Menu
      label="Retry with"
      trigger={button}
      items={[
        {
          label: isDraft
            ? "With the same draft"
            : `With the current version${current}${isSame ? ", the same" : ""}`,
          onSelect: () => actions.retry("current"),
          disabledReason: sameInput,
        },
        ...(isDraft || isSame
          ? []
          : [
              {
                label: `With the original version ${run.agent_version}`,
                onSelect: () => actions.retry("original"),
                disabledReason: sameInput,
              },
            ]),
        {
          label: "With another input…",
          onSelect: onEdit,
          disabledReason: workspace.whyNot("agents:invoke"),
        },
        ...(isUnmapped && run.trigger_id !== null
          ? [{ label: "Replay the request", href: `${triggerPath}?outcome=mapping_error` }]
          : []),
      ]}
    />
  );
}
