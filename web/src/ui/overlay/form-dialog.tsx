import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { Dialog } from "./dialog.tsx";
import type { DialogProps } from "./dialog-panel.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface FormDialogProps extends Omit<DialogProps, "open" | "onOpenChange" | "footer"> {
  /**
   * Returns whether the form has changes that would be lost. Called when the person closes the
   * dialog or leaves the page.
   */
  readonly isDirty: () => boolean;
  /** True once the form is saved. The dialog then closes without a question. Default: false. */
  readonly isSaved?: boolean;
  readonly close: () => void;
  /**
   * Renders the buttons, the primary one last. `leave` closes the dialog; if the form has changes,
   * it asks for confirmation first.
   */
  readonly footer: (leave: () => void) => ReactNode;
}

/** A dialog with a form. It asks for confirmation before changes are lost. */
export function FormDialog(props: FormDialogProps) {
  const { isDirty, isSaved = false, close, footer, ...dialog } = props;
  const [asks, setAsks] = useState(false);
  const isLeaving = useRef(false);
  const discard = () => {
    isLeaving.current = true;
    close();
  };
  // A saved form closes in an effect, because effects no longer run after the person has closed
  // this dialog. Otherwise a late response would close a dialog that was opened since.
  const closeSaved = useEffectEvent(discard);
  useEffect(() => {
    if (isSaved) closeSaved();
  }, [isSaved]);
  const leave = () => (isDirty() ? setAsks(true) : discard());
  return (
    <>
      <Dialog {...dialog} open onOpenChange={leave} footer={footer(leave)} />
      <LeaveGuard isDirty={() => !isLeaving.current && isDirty()} />
      <ConfirmDialog
        open={asks}
        onOpenChange={setAsks}
        title="Close without saving?"
        effect="What you typed is lost."
        confirmLabel="Discard changes"
        onConfirm={discard}
      />
    </>
  );
}
