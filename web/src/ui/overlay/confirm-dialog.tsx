import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../action/button.tsx";
import { sentenceOf } from "../feedback/error-words.ts";
import { Problem } from "../feedback/problem.tsx";
import { Field } from "../form/field.tsx";
import { TextInput } from "../form/text-input.tsx";
import { Dialog } from "./dialog.tsx";
import { useToast } from "./toast/toast.tsx";

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** A question that names the resource: "Delete agent Refund desk?" */
  readonly title: string;
  /** The effect, and how to undo it: "Its triggers stop. You can restore it for 30 days." */
  readonly effect: ReactNode;
  /** Verb and noun: "Delete agent". */
  readonly confirmLabel: string;
  readonly pendingText?: string;
  /** True if the button of the action is red, as a warning. Default: true. */
  readonly danger?: boolean;
  /**
   * A name that the person must type before the action is enabled; only for actions that affect
   * many things. Default: nothing must be typed.
   */
  readonly typedName?: string | undefined;
  /**
   * True if the caller shows the result once, for example a secret. The dialog then cannot be
   * closed while the action is in progress. Default: false.
   */
  readonly isResultShownOnce?: boolean;
  /**
   * Executes the action. The dialog closes when the promise resolves, and shows the error when it
   * rejects. If the person has closed the dialog or left its page before that, a toast shows the
   * error.
   */
  readonly onConfirm: () => Promise<void> | void;
  /** Called with the error if `onConfirm` rejects. Default: no call. */
  readonly onError?: (thrown: unknown) => void;
}

/** Asks for confirmation before an action. */
export function ConfirmDialog({ open, onOpenChange, ...rest }: ConfirmDialogProps) {
  // The dialog is mounted only while it is open, so that it does not keep a typed name or an error.
  return open ? <OpenConfirmDialog onOpenChange={onOpenChange} {...rest} /> : null;
}

function OpenConfirmDialog({
  onOpenChange,
  title,
  effect,
  confirmLabel,
  pendingText = "Working…",
  danger = true,
  typedName,
  isResultShownOnce = false,
  onConfirm,
  onError,
}: Omit<ConfirmDialogProps, "open">) {
  const [typed, setTyped] = useState("");
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const toast = useToast();
  const isDismissed = useRef(false);
  // A link or Back removes the dialog without dismissing it. Its `onOpenChange` would then change
  // the page that was opened since. React delays the cleanup of other effects: an error that
  // arrived meanwhile would be shown nowhere.
  useLayoutEffect(() => {
    isDismissed.current = false;
    return () => {
      isDismissed.current = true;
    };
  }, []);
  const dismiss = () => {
    isDismissed.current = true;
    onOpenChange(false);
  };
  const confirm = async () => {
    setPending(true);
    setError(undefined);
    try {
      await onConfirm();
      // After a dismissal, the caller may have opened another dialog, which must stay open.
      if (!isDismissed.current) onOpenChange(false);
    } catch (thrown) {
      onError?.(thrown);
      if (isDismissed.current)
        toast({
          tone: "failure",
          title: `“${confirmLabel}” failed.`,
          description: sentenceOf(thrown),
        });
      setError(thrown);
      setPending(false);
    }
  };
  const mustStay = pending && isResultShownOnce;
  const matches = typedName === undefined || typed.trim() === typedName;
  return (
    <Dialog
      open
      onOpenChange={dismiss}
      dismissible={!mustStay}
      role="alertdialog"
      size="small"
      title={title}
      description={effect}
      footer={
        <>
          <Button onClick={dismiss} disabled={mustStay}>
            Cancel
          </Button>
          <Button
            variant={danger ? "danger" : "primary"}
            onClick={confirm}
            pending={pending}
            pendingText={pendingText}
            disabled={!matches}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      {typedName === undefined && error === undefined ? undefined : (
        <div className="flex flex-col gap-3">
          {typedName === undefined ? null : (
            <Field label={`Type “${typedName}” to confirm`}>
              <TextInput
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
                autoComplete="off"
              />
            </Field>
          )}
          {error === undefined ? null : <Problem error={error} />}
        </div>
      )}
    </Dialog>
  );
}
