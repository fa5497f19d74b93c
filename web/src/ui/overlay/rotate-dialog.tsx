import { type ReactNode, useState } from "react";
import { Button } from "../action/button.tsx";
import { Banner } from "../feedback/banner.tsx";
import { Problem } from "../feedback/problem.tsx";
import { RadioCards } from "../form/radio-cards.tsx";
import { useNow } from "../text/now.ts";
import { Time } from "../text/time.tsx";
import { Dialog } from "./dialog.tsx";

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
] as const;

/** Asks when the old secret becomes invalid, then replaces it. Render it only while it is open. */
export function RotateDialog({
  title,
  effect,
  label,
  previousUntil,
  confirmLabel,
  onClose,
  onRotate,
}: RotateDialogProps) {
  const [grace, setGrace] = useState<(typeof choices)[number]["value"]>("3600");
  const now = useNow();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
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
    <Dialog
      open
      onOpenChange={onClose}
      // Closing the dialog would not cancel the rotation, but hide its result.
      dismissible={!pending}
      title={title}
      description={effect}
      footer={
        <>
          <Button onClick={onClose} disabled={pending}>
            Cancel
          </Button>
          <Button variant="primary" onClick={rotate} pending={pending} pendingText="Rotating…">
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {new Date(previousUntil ?? 0).getTime() > now ? (
          <Banner tone="warning">
            The secret before the current one is still accepted and would stop{" "}
            <Time value={previousUntil} />. This rotation ends it at once.
          </Banner>
        ) : null}
        <RadioCards label={label} options={choices} value={grace} onChange={setGrace} columns={2} />
        {error === undefined ? null : <Problem error={error} />}
      </div>
    </Dialog>
  );
}
