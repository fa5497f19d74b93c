import type { ReactNode } from "react";
import { useEverTrue } from "./use-ever-true.ts";

interface AllowedDialogProps {
  readonly isAllowed: boolean;
  readonly children: ReactNode;
}

/**
 * Shows a dialog only to people who are allowed to use it. The dialog stays open if the person
 * loses the permission, because it can contain what they typed, or a secret that is shown once.
 * Render it only while the URL names the dialog, and with a `key` if the URL can name another one.
 */
export function AllowedDialog({ isAllowed, children }: AllowedDialogProps) {
  return useEverTrue(isAllowed) ? children : null;
}
