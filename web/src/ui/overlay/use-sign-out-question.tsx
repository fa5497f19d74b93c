import { useState } from "react";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { hasUnsavedChanges } from "./unsaved.ts";

/**
 * Returns `ask`, which signs out, and asks first if the page has unsaved changes, because nothing
 * asks after the session has ended; and `question`, which must be rendered.
 * @param signOut shows its own errors: the question closes at once
 */
export function useSignOutQuestion(signOut: () => void) {
  const [open, setOpen] = useState(false);
  return {
    ask: () => (hasUnsavedChanges() ? setOpen(true) : signOut()),
    question: (
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        onConfirm={signOut}
        title="Sign out and discard what is not saved?"
        effect="What you typed on this page is lost, as is a new secret that you have not stored."
        confirmLabel="Sign out"
      />
    ),
  };
}
