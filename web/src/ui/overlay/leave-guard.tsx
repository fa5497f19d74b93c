import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface LeaveGuardProps {
  /** True while the form has something that would be lost. Read when the person leaves. */
  readonly isDirty: () => boolean;
  /**
   * Text of the button that discards the changes: verb and noun, for example "Discard agent".
   * Default: "Discard changes".
   */
  readonly discardLabel?: string;
  /** True if the form survives changes of the search parameters. */
  readonly withinPage?: boolean;
}

/** Asks before a page with a form that is not saved is left, also by the browser's own ways. */
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
