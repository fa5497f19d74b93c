import { type ReactNode, useRef } from "react";
import { Button } from "../action/button.tsx";
import { CopyField } from "../action/copy-field.tsx";
import { Dialog } from "./dialog.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface ShownOnceDialogProps {
  /** The secret; null closes the dialog. */
  readonly secret: string | null;
  readonly title: string;
  /** Name of the secret, for the copy button: "API key". */
  readonly label: string;
  /** What the secret is for. Default: only a note that Beckon shows it once. */
  readonly description?: ReactNode;
  /** How to use the secret, for example a code snippet. */
  readonly children?: ReactNode;
  /** Called by "I have stored it". The caller must then delete the secret from memory. */
  readonly onStored: () => void;
}

/**
 * Shows a secret that cannot be read again. Neither Esc nor a press outside closes the dialog, only
 * the button "I have stored it". Leaving the page closes it too, after a question. The end of the
 * session closes it without one.
 */
export function ShownOnceDialog({
  secret,
  title,
  label,
  description = "Beckon shows it only now. Copy it and store it in a safe place.",
  children,
  onStored,
}: ShownOnceDialogProps) {
  // A ref, because `onStored` can navigate before the next rendering.
  const stored = useRef<string>(null);
  if (secret === null) return null;
  const confirm = () => {
    stored.current = secret;
    onStored();
  };
  return (
    <>
      <Dialog
        open
        dismissible={false}
        onOpenChange={() => {}}
        title={title}
        description={description}
        footer={
          <Button variant="primary" onClick={confirm}>
            I have stored it
          </Button>
        }
      >
        <div className="flex flex-col gap-4">
          <CopyField label={label} value={secret} variant="wrap" />
          {children}
        </div>
      </Dialog>
      <LeaveGuard
        isDirty={() => stored.current !== secret}
        title="Leave before you have stored it?"
        effect="Beckon cannot show it again."
        discardLabel="Leave page"
      />
    </>
  );
}
