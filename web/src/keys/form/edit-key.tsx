import type { Key } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { announceChanges, announceIfOutdated, useWorkspace } from "../../data/index.ts";
import { useToast } from "../../ui/index.ts";
import { keyQuery, keysKey } from "../queries.ts";
import { changesFor, fieldsOf, type KeyFields } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";

interface EditKeyProps {
  readonly apiKey: Key;
  readonly close: () => void;
}

/** The dialog that changes a key's name, scopes, agents and expiry. The secret stays the same. */
export function EditKey({ apiKey, close }: EditKeyProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  // The key with which the form was filled in. `apiKey` changes if somebody else saves the key. If
  // the form were compared with the changed key, fields that this person did not edit would count
  // as edited, and their old values would be saved again.
  const [base] = useState(apiKey);
  const save = useMutation({
    mutationFn: async (fields: KeyFields) => {
      const current = await workspace.client.keys.get(apiKey.id);
      return workspace.client.keys.update(apiKey.id, changesFor(base, fields, current));
    },
    onSuccess: async (saved) => {
      queryClient.setQueryData(keyQuery(workspace, apiKey.id).queryKey, saved);
      toast({ tone: "success", title: `Saved the key ${saved.name}` });
      await announceChanges(queryClient, keysKey(workspace.id));
    },
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, keysKey(workspace.id)),
  });
  return (
    <KeyForm
      title={`Edit ${apiKey.name}`}
      description="Changes apply to requests from now on. The secret stays the same."
      submitLabel="Save key"
      pendingText="Saving…"
      retry="Press Save key again: saving it twice does no harm."
      initial={fieldsOf(base)}
      expiresAt={base.expires_at}
      save={save}
      close={close}
    />
  );
}
