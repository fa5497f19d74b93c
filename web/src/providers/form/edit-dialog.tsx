import { BeckonError, type Provider } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useForm } from "react-hook-form";
import { announceChanges, announceIfOutdated, useWorkspace } from "../../data/index.ts";
import { Checkbox, FormDialog, FormError } from "../../ui/index.ts";
import { modelsKey, providersKey } from "../queries.ts";
import { AddressField } from "./address-field.tsx";
import { changesFor, type EditFields, editResolver, hasOtherOrigin } from "./edit-fields.ts";
import { FreeField } from "./free-field.tsx";
import { KeyField } from "./key-field.tsx";
import { serverError } from "./server-error.ts";

interface EditDialogProps {
  /** The provider as it was when the dialog was opened. */
  readonly provider: Provider;
  /** Called with the provider as it was last read, for a dialog that is opened again. */
  readonly close: (last: Provider) => void;
  readonly onSaved: (provider: Provider) => void;
}

const retry = "Press Save and check again: saving it twice does no harm.";

/**
 * The dialog that changes a provider's address or key, or whether it is free. Name and kind cannot
 * be changed.
 */
export function EditDialog({ provider, close, onSaved }: EditDialogProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { register, handleSubmit, setError, watch, formState } = useForm<EditFields>({
    resolver: editResolver(provider),
    mode: "onTouched",
    defaultValues: {
      base_url: provider.base_url ?? "",
      api_key: "",
      removesKey: false,
      free: provider.free,
    },
  });
  const { errors, isDirty } = formState;
  const last = useRef(provider);
  const save = useMutation({
    mutationFn: async (fields: EditFields) => {
      const changes = changesFor(provider, fields);
      // The API has no If-Match for providers. Without these checks, a key could be sent to an
      // address that somebody else has just saved, or calls of a new address could be free, and
      // this person has not seen it.
      last.current = await client.providers.get(provider.id);
      const { base_url: stored, free } = last.current;
      if (stored !== provider.base_url && stored !== changes.base_url) throw changedAddress(stored);
      if (free !== provider.free && free !== changes.free)
        throw changedBySomebody(`marked the provider as ${free ? "free" : "not free"}`);
      return client.providers.update(provider.id, changes);
    },
    onSuccess: (saved) => {
      onSaved(saved);
      void announceChanges(queryClient, providersKey(workspaceId), modelsKey(workspaceId));
    },
    onError: (thrown) => {
      void announceIfOutdated(
        queryClient,
        thrown,
        providersKey(workspaceId),
        modelsKey(workspaceId),
      );
      const { field, message } = serverError(thrown, retry);
      if (field === "base_url" || field === "api_key")
        setError(field, { type: "server", message }, { shouldFocus: true });
    },
  });
  const failure = save.isError ? serverError(save.error, retry) : undefined;
  const isAtField = failure?.field === "base_url" || failure?.field === "api_key";
  const hasKey = provider.api_key_last4 !== null;
  const [baseUrl, removesKey] = watch(["base_url", "removesKey"]);
  const needsKey = hasKey && hasOtherOrigin(provider, baseUrl);
  return (
    <FormDialog
      title={`Edit ${provider.name}`}
      description="Runs that start from now on use what you save."
      isDirty={() => isDirty && !save.isSuccess}
      close={() => close(last.current)}
      onSubmit={handleSubmit((fields) => save.mutate(fields))}
      submit={{ label: "Save and check", pending: save.isPending, disabled: !isDirty }}
    >
      <AddressField kind={provider.kind} error={errors.base_url} input={register("base_url")} />
      <KeyField
        input={register("api_key")}
        optional={!needsKey}
        error={errors.api_key}
        disabled={removesKey}
        placeholder={storedKey(provider)}
        hint={
          needsKey
            ? "The stored key was given for another origin. Enter the key for this one."
            : hasKey
              ? "Leave it empty to keep the stored key, which is never shown."
              : "Only if the server asks for one. It is stored encrypted and never shown again."
        }
      />
      {hasKey ? <Checkbox {...register("removesKey")} label="Remove the stored key" /> : null}
      <FreeField input={register("free")} />
      <FormError error={isAtField ? undefined : failure?.message} />
    </FormDialog>
  );
}

function changedAddress(stored: string | null): BeckonError {
  const change = stored === null ? "removed the base URL" : `changed the base URL to ${stored}`;
  return changedBySomebody(change);
}

function changedBySomebody(change: string): BeckonError {
  const message = `Somebody else has ${change}. Close this dialog and open it again.`;
  return new BeckonError({ code: "conflict", message });
}

function storedKey({ api_key_last4: end }: Provider): string | undefined {
  if (end === null) return undefined;
  return end === "" ? "A key is stored" : `Stored key ends in ${end}`;
}
