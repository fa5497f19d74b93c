import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "../action/button.tsx";
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
  /** Called after the browser's own submission is prevented. */
  readonly onSubmit: (event: FormEvent) => unknown;
  /** The button that submits the form; undefined if the form can only be read. */
  readonly submit: SubmitButton | undefined;
}

interface SubmitButton
  extends Pick<ButtonProps, "pending" | "pendingText" | "disabled" | "disabledReason"> {
  readonly label: string;
}

/**
 * A dialog with a form and its buttons. It asks for confirmation before changes are lost. If
 * `dismissible` is false, the button Cancel is disabled too.
 */
export function FormDialog(props: FormDialogProps) {
  const { isDirty, isSaved = false, close, onSubmit, submit, children, ...dialog } = props;
  const formId = useId();
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
  const send = (event: FormEvent) => {
    // React also passes the event to a form in which this dialog is rendered. Without this line,
    // that form would be submitted as well.
    event.stopPropagation();
    event.preventDefault();
    onSubmit(event);
  };
  return (
    <>
      <Dialog
        {...dialog}
        open
        onOpenChange={leave}
        footer={
          <>
            <Button onClick={leave} disabled={dialog.dismissible === false}>
              {submit === undefined ? "Close" : "Cancel"}
            </Button>
            {submit === undefined ? null : <Submit {...submit} form={formId} />}
          </>
        }
      >
        <form id={formId} noValidate onSubmit={send} className="flex flex-col gap-4">
          {children}
        </form>
      </Dialog>
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

function Submit({ label, ...button }: SubmitButton & { readonly form: string }) {
  return (
    <Button {...button} type="submit" variant="primary">
      {label}
    </Button>
  );
}
