import { ConfirmDialog } from "./confirm-dialog.tsx";

interface SignOutQuestionProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Signs out. The dialog closes at once: the caller shows an error. */
  readonly onConfirm: () => void;
}

/** Asks before a sign-out, if `hasUnsavedChanges`: nothing asks after the session has ended. */
export function SignOutQuestion(props: SignOutQuestionProps) {
  return (
    <ConfirmDialog
      {...props}
      title="Sign out and discard what is not saved?"
      effect="What you typed on this page is lost, as is a new secret that you have not stored."
      confirmLabel="Sign out"
    />
  );
}
