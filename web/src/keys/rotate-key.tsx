import type { Key } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, failureOf, useIdempotencyKey, useWorkspace } from "../data/index.ts";
import { Button, Dialog, Field, FormError, LeaveGuard, Select } from "../ui/index.ts";
import { NewSecret } from "./new-secret.tsx";
import { keysKey } from "./queries.ts";

interface RotateKeyProps {
  readonly apiKey: Key;
  readonly close: () => void;
}

/** How long the previous secret stays valid, in seconds. The API allows at most 7 days. */
const graces = [
  { value: "0", label: "At once" },
  { value: "3600", label: "In 1 hour" },
  { value: "86400", label: "In 1 day" },
  { value: "604800", label: "In 7 days" },
];

const again = "Press Rotate key again: it is rotated once only.";

/** The dialog that replaces the secret of a key and shows the new one once. */
export function RotateKey({ apiKey, close }: RotateKeyProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const [grace, setGrace] = useState("0");
  const rotate = useMutation({
    mutationFn: () => {
      const body = { grace_seconds: Number(grace) };
      return client.keys.rotate(apiKey.id, body, { idempotencyKey: keyOf(body) });
    },
    // Does not wait for the refetch, so that the secret is shown at once.
    onSuccess: () => void announceChanges(queryClient, keysKey(id)),
  });
  if (rotate.isSuccess)
    return (
      <NewSecret
        secret={rotate.data.key}
        title={`New secret of ${apiKey.name}`}
        scopes={apiKey.scopes}
        close={close}
      />
    );
  return (
    <>
      <Dialog
        open
        onOpenChange={close}
        // The response is the only copy of the secret, so the dialog cannot be closed before it
        // arrives.
        dismissible={!rotate.isPending}
        size="small"
        title={`Rotate the key ${apiKey.name}?`}
        description="It gets a new secret, which is shown once. Name, scopes and expiry stay."
        footer={
          <>
            <Button onClick={close} disabled={rotate.isPending}>
              Cancel
            </Button>
            <Button
              variant="primary"
              onClick={() => rotate.mutate()}
              pending={rotate.isPending}
              pendingText="Rotating…"
            >
              Rotate key
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          <Field
            label="The old secret stops"
            hint={
              grace === "0"
                ? "Requests with it, or with one that an earlier rotation replaced, are rejected as soon as the new one exists."
                : "Until then both are accepted, so that you can replace it without a gap. A secret that an earlier rotation replaced stops at once."
            }
          >
            <Select
              value={grace}
              onChange={({ target }) => setGrace(target.value)}
              options={graces}
            />
          </Field>
          <FormError
            error={
              rotate.isError ? failureOf(rotate.error, "the key was rotated", again) : undefined
            }
          />
        </div>
      </Dialog>
      <LeaveGuard
        isDirty={() => rotate.isPending}
        title="Leave before the new secret is shown?"
        effect="The key may already have its new secret, which is shown only here."
        discardLabel="Leave page"
      />
    </>
  );
}
