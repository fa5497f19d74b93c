import type { Subscription } from "@beckon/client";
import { IssuedSecretDialog } from "../../ui/index.ts";
import { VerifyHelp } from "./verify-help.tsx";

interface IssuedSecretProps {
  readonly title: string;
  readonly secret: string;
  readonly format: Subscription["format"];
  readonly close: () => void;
}

/** A signing secret that was just issued, and how to verify signatures with it. */
export function IssuedSecret({ title, secret, format, close }: IssuedSecretProps) {
  return (
    <IssuedSecretDialog
      title={title}
      description="Your server verifies deliveries with this secret. Copy it now. You can also reveal it later, which the audit log records."
      label="Signing secret"
      secret={secret}
      onClose={close}
    >
      <VerifyHelp format={format} />
    </IssuedSecretDialog>
  );
}
