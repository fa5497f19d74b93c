import type { Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useRotation, useWorkspace } from "../../../data/index.ts";
import { RotateDialog } from "../../../ui/index.ts";
import { subscriptionsKey } from "../../list-query.ts";
import { nameOf } from "../../name.ts";
import { IssuedSecret } from "../../secret/issued-secret.tsx";

interface RotateSecretProps {
  readonly subscription: Subscription;
  readonly close: () => void;
}

/** Replaces the signing secret, and shows the new one. */
export function RotateSecret({ subscription, close }: RotateSecretProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { unknown, send } = useRotation<number>(`rotate.${subscription.id}`, () =>
    announceChanges(queryClient, subscriptionsKey(id)),
  );
  const [issued, setIssued] = useState<string>();
  const name = nameOf(subscription);
  if (issued !== undefined)
    return (
      <IssuedSecret
        title={`New secret of ${name}`}
        secret={issued}
        format={subscription.format}
        close={close}
      />
    );
  return (
    <RotateDialog
      title={`Rotate the secret of ${name}?`}
      effect="Beckon issues a new secret. Until the time that you choose, both secrets sign each delivery, so that no delivery fails to verify. A secret that an earlier rotation replaced stops at once."
      label="The old secret stops"
      previousUntil={subscription.previous_secret_until}
      unknownGraceSeconds={unknown}
      confirmLabel="Rotate secret"
      onClose={close}
      onRotate={async (graceSeconds) => {
        const body = { grace_seconds: graceSeconds };
        const { secret } = await send(graceSeconds, (options) =>
          client.subscriptions.rotateSecret(subscription.id, body, options),
        );
        setIssued(secret);
      }}
    />
  );
}
