import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface LeaveGuardProps {
  /**
   * Returns whether the form has changes that would be lost. Called when the person leaves the
   * page.
   */
  readonly isDirty: () => boolean;
  /**
   * Text of the button that discards the changes: verb and noun, for example "Discard agent".
   * Default: "Discard changes".
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
 * reloaded.
 */
export function LeaveGuard({
  isDirty,
  discardLabel = "Discard changes",
  withinPage = false,
}: LeaveGuardProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty() && !(withinPage && current.pathname === next.pathname),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={status === "blocked"}
      onOpenChange={(open) => {
        if (!open) reset?.();
      }}
      title="Leave without saving?"
      effect="What you typed on this page is lost."
      confirmLabel={discardLabel}
      onConfirm={() => proceed?.()}
    />
  );
}
