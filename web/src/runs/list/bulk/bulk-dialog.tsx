import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { announceChanges, useWorkspace } from "../../../data/index.ts";
import { formatCount, formatCounted } from "../../../format/index.ts";
import { ConfirmDialog, useToast } from "../../../ui/index.ts";
import { removeFromLists, runsKey } from "../../queries.ts";
import { applyToMany, type BulkTarget } from "./apply-to-many.ts";
import type { BulkAction } from "./bulk-body.ts";

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly target: BulkTarget;
  /** The filters in words, if all matching runs are selected. */
  readonly filter?: ReactNode;
  /** Number of selected runs to which the action does not apply. */
  readonly skipped: number;
  readonly close: () => void;
  /** Called after the action was applied to all, and after the person has stopped it. */
  readonly onDone: () => void;
}

const words = {
  cancel: {
    verb: "Cancel",
    pending: "Cancelling…",
    done: "cancelled",
    effect: "They stop as soon as they can be stopped. What their tools have done stays done.",
    kept: "Runs that have ended are not changed.",
  },
  delete: {
    verb: "Delete",
    pending: "Deleting…",
    done: "deleted",
    effect: "Their inputs, outputs and journals are deleted. This cannot be undone.",
    kept: "Runs that have not ended are kept.",
  },
} as const;

/** Asks for confirmation before many runs are changed, and shows the progress. */
export function BulkDialog({ action, target, filter, skipped, close, onDone }: BulkDialogProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [changed, setChanged] = useState<number>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const { verb, pending, done, effect, kept } = words[action];
  const runs = "ids" in target ? formatCounted(target.ids.length, "run") : "all runs that match";

  const confirm = async () => {
    stop.current = new AbortController();
    setChanged(0);
    let count = 0;
    const note = (now: number) => {
      count = now;
      setChanged(now);
    };
    try {
      await applyToMany(workspace.client, action, target, note, stop.current.signal);
      onDone();
      // This toast is not shown after an error, because a request whose response was lost may have
      // changed runs.
      if (count === 0) toast({ tone: "info", title: `No run was ${done}` });
    } finally {
      if (action === "delete") {
        const isWhole = "ids" in target && count === target.ids.length;
        removeFromLists(queryClient, workspace.id, isWhole ? target.ids : undefined);
      }
      await announceChanges(queryClient, runsKey(workspace.id));
      if (count > 0) toast({ tone: "success", title: `${formatCounted(count, "run")} ${done}` });
    }
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`${verb} ${runs}?`}
      effect={
        <span className="flex flex-col gap-2">
          {filter === undefined ? null : <span className="flex flex-col">{filter}</span>}
          <span>
            {effect} {filter === undefined ? skippedText(skipped, kept) : kept}
          </span>
          {changed === undefined ? null : (
            <span role="status" className="text-ink">
              {`${formatCount(changed)} ${done} so far. Closing this stops the rest.`}
            </span>
          )}
        </span>
      }
      confirmLabel={`${verb} ${"ids" in target ? runs : "all"}`}
      pendingText={pending}
      typedName={filter === undefined || action === "cancel" ? undefined : "delete"}
      onConfirm={confirm}
    />
  );
}

function skippedText(skipped: number, kept: string): string {
  return skipped === 0 ? "" : `${formatCount(skipped)} of the selected are not affected: ${kept}`;
}
