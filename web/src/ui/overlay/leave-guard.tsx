import { useBlocker } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useUnsaved } from "./unsaved.ts";

interface LeaveGuardProps {
  /** Returns whether something would be lost. Called when the person leaves the page. */
  readonly isDirty: () => boolean;
  /** The question. Default: "Leave without saving?" */
  readonly title?: string;
  /** What would be lost. Default: "What you typed on this page is lost." */
  readonly effect?: string;
  /**
   * Text of the button that leaves the page: verb and noun, for example "Discard agent". Default:
   * "Discard changes".
   */
  readonly discardLabel?: string;
  /**
   * True if the form keeps its values when the search parameters change. If so, such changes need
   * no confirmation.
   */
  readonly withinPage?: boolean;
}

/**
 * Asks for confirmation before a page with unsaved changes is left, even if the tab is closed or
 * reloaded. If the guard is removed while it asks, the person stays on the page.
 */
export function LeaveGuard({
  isDirty,
  title = "Leave without saving?",
  effect = "What you typed on this page is lost.",
  discardLabel = "Discard changes",
  withinPage = false,
}: LeaveGuardProps) {
  useUnsaved(isDirty);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty() && !(withinPage && current.pathname === next.pathname),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  // If the guard is removed while it asks, the person stays. Otherwise the router would keep
  // waiting: after the Back button, the URL would remain that of the page that was not opened.
  const stay = useEffectEvent(() => reset?.());
  useEffect(() => () => stay(), []);
  return (
    <ConfirmDialog
      open={status === "blocked"}
      onOpenChange={(open) => {
        if (!open) reset?.();
      }}
      title={title}
      effect={effect}
      confirmLabel={discardLabel}
      onConfirm={() => proceed?.()}
    />
  );
}
