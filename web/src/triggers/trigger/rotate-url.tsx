import type { Trigger } from "@beckon/client";
import { useState } from "react";
import { graceEnd, useRotation, useWorkspace } from "../../data/index.ts";
import { IssuedSecretDialog, RotateDialog } from "../../ui/index.ts";

interface RotateUrlProps {
  readonly trigger: Trigger;
  /** Unix time in ms until which the URL of an earlier rotation is accepted, if that is known. */
  readonly previousUntil?: number | undefined;
  /**
   * Called with the Unix time in ms at which the old URL stops; undefined if it has stopped, or if
   * that is not known.
   */
  readonly onRotated?: (oldUntil: number | undefined) => void;
  readonly onClose: () => void;
}

/** Asks when the old URL of a trigger expires, then shows the new one. */
export function RotateUrl({ trigger, previousUntil, onRotated, onClose }: RotateUrlProps) {
  const { client } = useWorkspace();
  const { unknown, send } = useRotation<number>(`rotate.${trigger.id}`);
  const [issued, setIssued] = useState<string>();
  if (issued !== undefined)
    return (
      <IssuedSecretDialog
        title={`New URL of ${trigger.name}`}
        label="URL"
        secret={issued}
        onClose={onClose}
      />
    );
  return (
    <RotateDialog
      title={`Rotate the URL of ${trigger.name}?`}
      effect="Beckon issues a new URL. What is posted to the old one is rejected from the time that you choose. A URL that an earlier rotation replaced stops at once."
      label="The old URL stops"
      previousUntil={previousUntil}
      unknownGraceSeconds={unknown}
      confirmLabel="Rotate URL"
      onClose={onClose}
      onRotate={async (graceSeconds) => {
        const body = { grace_seconds: graceSeconds };
        const { url, sentAt } = await send(graceSeconds, (options) =>
          client.triggers.rotate(trigger.agent_id, trigger.id, body, options),
        );
        setIssued(url);
        onRotated?.(graceEnd(sentAt, graceSeconds));
      }}
    />
  );
}
