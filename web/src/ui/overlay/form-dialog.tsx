import { type ReactNode, useRef, useState } from "react";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { Dialog } from "./dialog.tsx";
import type { DialogProps } from "./dialog-panel.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface FormDialogProps extends Omit<DialogProps, "open" | "onOpenChange" | "footer"> {
  /** True while the form has something that would be lost. Read when the person closes it. */
  readonly isDirty: () => boolean;
  readonly close: () => void;
  /** Buttons, the primary one last. `leave` closes the dialog, and asks first if it is dirty. */
  readonly footer: (leave: () => void) => ReactNode;
}

/** A dialog with a form. Before something typed is lost, it asks. */
export function FormDialog({ isDirty, close, footer, ...dialog }: FormDialogProps) {
  const [asks, setAsks] = useState(false);
  const isLeaving = useRef(false);
  const discard = () => {
    isLeaving.current = true;
    close();
  };
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
