import type { CreateKeyAnswer } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  announceIfOutdated,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { NewSecret } from "../new-secret.tsx";
import { keysKey } from "../queries.ts";
import { bodyOf, type KeyFields, newKey } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";

/** The dialog that creates a key and shows its secret once. */
export function NewKey({ close }: { readonly close: () => void }) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const create = useMutation({
    mutationFn: (fields: KeyFields): Promise<CreateKeyAnswer> => {
      const body = bodyOf(fields);
      return client.keys.create(body, { idempotencyKey: keyOf(body) });
    },
    // Does not wait for the refetch, so that the secret is shown at once.
    onSuccess: () => void announceChanges(queryClient, keysKey(id)),
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, keysKey(id)),
  });
  if (create.isSuccess)
    return (
      <NewSecret
        secret={create.data.key}
        title={`Created ${create.data.name}`}
        scopes={create.data.scopes}
        close={close}
      />
    );
  return (
    <KeyForm
      title="New key"
      submitLabel="Create key"
      pendingText="Creating…"
      retry="Press Create key again without changes: it is created once only."
      initial={newKey}
      save={create}
      close={close}
    />
  );
}
