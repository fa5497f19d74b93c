import type { ReactNode } from "react";
import { Button } from "../action/button.tsx";
import { CopyField } from "../action/copy-field.tsx";
import { Dialog } from "./dialog.tsx";

interface IssuedSecretDialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Name of the secret, shown above it and used by the copy button, for example "URL". */
  readonly label: string;
  readonly secret: string;
  /** Shown below the secret, for example what to do next. */
  readonly children?: ReactNode;
  /** Buttons before "Done". */
  readonly actions?: ReactNode;
  /** Called when the dialog is closed. The caller must then delete the secret from memory. */
  readonly onClose: () => void;
}

/**
 * Shows a secret that was just issued and that can be revealed again later. For secrets that cannot
 * be revealed again, use ShownOnceDialog.
 */
export function IssuedSecretDialog({
  title,
  description = "Copy it now. You can also reveal it later, which the audit log records.",
  label,
  secret,
  children,
  actions,
  onClose,
}: IssuedSecretDialogProps) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      description={description}
      footer={
        <>
          {actions}
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <CopyField label={label} value={secret} variant="wrap" />
        {children}
      </div>
    </Dialog>
  );
}
