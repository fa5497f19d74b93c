import { type ReactNode, useState } from "react";
import { Banner } from "../feedback/banner.tsx";
import { FormError } from "../form/form-error.tsx";
import { FormPendingContext } from "../form/form-pending.ts";
import { RadioCards } from "../form/radio-cards.tsx";
import { useNow } from "../text/now.ts";
import { Time } from "../text/time.tsx";
import { FormDialog } from "./form-dialog.tsx";

interface RotateDialogProps {
  /** A question that names the resource: "Rotate the API token of Refund desk?" */
  readonly title: string;
  /** The effect: "Beckon issues a new token." */
  readonly effect: ReactNode;
  /** Label of the choice of the grace period: "The old token stops". */
  readonly label: string;
  /**
   * Time until which the secret of an earlier rotation is still accepted, in ISO 8601 or Unix ms.
   * This rotation ends that secret, so the dialog warns. null or undefined if there is none.
   */
  readonly previousUntil?: string | number | null | undefined;
  /** Grace period that is chosen at first, in seconds. Default: 3600. */
  readonly initialGraceSeconds?: number;
  /**
   * Grace period of an earlier rotation whose outcome is not known, in seconds; undefined if there
   * is none. The choice is then locked, because only the same request can be repeated.
   */
  readonly unknownGraceSeconds: number | undefined;
  /** Verb and noun: "Rotate token". */
  readonly confirmLabel: string;
  readonly onClose: () => void;
  /**
   * Rotates the secret. The old one stays valid for `graceSeconds`. If the promise rejects, the
   * error is shown.
   */
  readonly onRotate: (graceSeconds: number) => Promise<void>;
}

const choices = [
  { value: "0", label: "Now", hint: "Use this if it has leaked." },
  { value: "3600", label: "In 1 hour", hint: "For callers that you change yourself." },
  { value: "86400", label: "In 1 day", hint: "For callers of other teams." },
  { value: "604800", label: "In 7 days", hint: "The longest time." },
];

/** Asks when the old secret becomes invalid, then replaces it. Render it only while it is open. */
export function RotateDialog({
  title,
  effect,
  label,
  previousUntil,
  initialGraceSeconds = 3600,
  unknownGraceSeconds,
  confirmLabel,
  onClose,
  onRotate,
}: RotateDialogProps) {
  const [grace, setGrace] = useState(String(unknownGraceSeconds ?? initialGraceSeconds));
  const now = useNow();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isUnknown = unknownGraceSeconds !== undefined;
  const rotate = async () => {
    setPending(true);
    setError(undefined);
    try {
      await onRotate(Number(grace));
    } catch (thrown) {
      setError(thrown);
      setPending(false);
    }
  };
  return (
    <FormDialog
      isDirty={() => pending}
      close={onClose}
      title={title}
      description={effect}
      onSubmit={rotate}
      submit={{ label: confirmLabel, pending, pendingText: "Rotating…" }}
    >
      {isUnknown ? <UnknownRotation confirmLabel={confirmLabel} /> : null}
      {!isUnknown && new Date(previousUntil ?? 0).getTime() > now ? (
        <Banner tone="warning">
          The secret before the current one is still accepted and would stop{" "}
          <Time value={previousUntil} />. This rotation ends it at once.
        </Banner>
      ) : null}
      <FormPendingContext value={pending || isUnknown}>
        <RadioCards label={label} options={choices} value={grace} onChange={setGrace} columns={2} />
      </FormPendingContext>
      <FormError error={error} />
    </FormDialog>
  );
}

/** Says that an attempt may have replaced the secret, and that a repeat is safe. */
export function UnknownRotation({ confirmLabel }: Pick<RotateDialogProps, "confirmLabel">) {
  return (
    <Banner tone="warning">
      It is not known whether the last attempt has replaced the secret. Press {confirmLabel} again:
      it is replaced once only.
    </Banner>
  );
}
