import type { Key } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, useRotation, useWorkspace } from "../data/index.ts";
import { RotateDialog } from "../ui/index.ts";
import { NewSecret } from "./new-secret.tsx";
import { keysKey } from "./queries.ts";

interface RotateKeyProps {
  readonly apiKey: Key;
  readonly close: () => void;
}

/** The dialog that replaces the secret of a key and shows the new one once. */
export function RotateKey({ apiKey, close }: RotateKeyProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { unknown, send } = useRotation<number>(`rotate.${apiKey.id}`, () =>
    announceChanges(queryClient, keysKey(id)),
  );
  const [issued, setIssued] = useState<string>();
  if (issued !== undefined)
    return (
      <NewSecret
        secret={issued}
        title={`New secret of ${apiKey.name}`}
        scopes={apiKey.scopes}
        close={close}
      />
    );
  return (
    <RotateDialog
      title={`Rotate the key ${apiKey.name}?`}
      effect="It gets a new secret, which is shown once. Name, scopes and expiry stay. Requests with the old secret are rejected from the time that you choose. A secret that an earlier rotation replaced stops at once."
      label="The old secret stops"
      initialGraceSeconds={0}
      unknownGraceSeconds={unknown}
      confirmLabel="Rotate key"
      onClose={close}
      onRotate={async (graceSeconds) => {
        const body = { grace_seconds: graceSeconds };
        const { key } = await send(graceSeconds, (options) =>
          client.keys.rotate(apiKey.id, body, options),
        );
        setIssued(key);
      }}
    />
  );
}
