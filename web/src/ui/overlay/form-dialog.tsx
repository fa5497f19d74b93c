import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { Button, type ButtonProps } from "../action/button.tsx";
import { FormPendingContext } from "../form/form-pending.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { Dialog } from "./dialog.tsx";
import type { DialogProps } from "./dialog-panel.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface FormDialogProps
  extends Omit<DialogProps, "open" | "onOpenChange" | "footer" | "dismissible"> {
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
  /**
   * Text of the button that closes the dialog. Default: "Cancel", or "Close" if `submit` is
   * undefined.
   */
  readonly closeLabel?: string;
}

interface SubmitButton
  extends Pick<ButtonProps, "pending" | "pendingText" | "disabled" | "disabledReason"> {
  readonly label: string;
}

/**
 * A dialog with a form and its buttons. It asks for confirmation before changes are lost. While
 * `submit.pending` is true, its controls take no changes, and it cannot be closed: closing would
 * not stop the request, but hide its result. The API client limits each request to 60 s and repeats
 * it at most 3 times, so the dialog can be closed again after some minutes at most. The page can be
 * left at any time.
 */
export function FormDialog(props: FormDialogProps) {
  const {
    isDirty,
    isSaved = false,
    close,
    onSubmit,
    submit,
    closeLabel,
    children,
    ...dialog
  } = props;
  const isPending = submit?.pending === true;
  const formId = useId();
  const [asks, setAsks] = useState(false);
  const isLeaving = useRef(false);
  const discard = () => {
    isLeaving.current = true;
    close();
  };
  // A saved form closes in an effect, because effects no longer run after the person has left the
  // page. Otherwise a late response would close a dialog that was opened since.
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
        dismissible={!isPending}
        footer={
          <>
            <Button
              onClick={leave}
              disabledReason={
                isPending ? "Wait for the response: closing would not stop the request." : undefined
              }
            >
              {closeLabel ?? (submit === undefined ? "Close" : "Cancel")}
            </Button>
            {submit === undefined ? null : <Submit {...submit} form={formId} />}
          </>
        }
      >
        <form id={formId} noValidate onSubmit={send} className="flex flex-col gap-4">
          <FormPendingContext value={isPending}>{children}</FormPendingContext>
        </form>
      </Dialog>
      <LeaveGuard
        isDirty={() => !isLeaving.current && isDirty()}
        {...(isPending ? whilePending : {})}
      />
      <ConfirmDialog
        open={asks && !isPending}
        onOpenChange={setAsks}
        title="Close without saving?"
        effect="What you typed is lost."
        confirmLabel="Discard changes"
        onConfirm={discard}
      />
    </>
  );
}

/** What `LeaveGuard` asks before the page is left while the form is sent. */
const whilePending = {
  title: "Leave before the server has responded?",
  effect:
    "The request continues, but its result may not be shown, such as an error or a new secret.",
  discardLabel: "Leave page",
};

function Submit({ label, ...button }: SubmitButton & { readonly form: string }) {
  return (
    <Button {...button} type="submit" variant="primary">
      {label}
    </Button>
  );
}
