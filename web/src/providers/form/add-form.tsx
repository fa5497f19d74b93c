import type { Provider } from "@beckon/client";
import { useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { Field, FormDialog, FormError, RadioCards, Select, TextInput } from "../../ui/index.ts";
import { kindLabels } from "../kinds.ts";
import { AddressField } from "./address-field.tsx";
import { FoundNotice } from "./found-notice.tsx";
import { FreeField } from "./free-field.tsx";
import { KeyField } from "./key-field.tsx";
import { KeyHint } from "./key-hint.tsx";
import { presetOf, presets } from "./presets.ts";
import { bodyOf, fieldsOf, type ProviderFields, providerResolver } from "./provider-fields.ts";
import { serverError } from "./server-error.ts";
import { useCreateProvider } from "./use-create-provider.ts";

interface AddFormProps {
  /**
   * Id of the preset with which the form is filled in; undefined for the first of `presets`.
   */
  readonly preset: string | undefined;
  readonly close: () => void;
  readonly onCreated: (provider: Provider) => void;
}

const kindOptions = Object.entries(kindLabels).map(([value, label]) => ({ value, label }));
const presetOptions = presets.map(({ id, label }) => ({ value: id, label }));
const retry = "Press Add and check again without changes: it is added once only.";

/**
 * The form of a new provider. A preset fills in all fields except the key, which has to be typed
 * for each preset.
 */
export function AddForm({ preset: first, close, onCreated }: AddFormProps) {
  const [preset, setPreset] = useState(() => presetOf(first));
  const create = useCreateProvider(onCreated);
  const form = useForm<ProviderFields>({
    resolver: providerResolver,
    mode: "onTouched",
    defaultValues: { ...fieldsOf(preset), api_key: "" },
  });
  const { register, handleSubmit, setError, setValue, getValues, clearErrors, watch } = form;
  const { errors, dirtyFields } = form.formState;
  // What was typed for each preset. A key must not be sent to the server of another preset, and
  // what is typed is not lost if another preset is chosen for a moment.
  const typed = useRef(new Map<string, ProviderFields>());
  const choose = (id: string) => {
    const chosen = presetOf(id);
    typed.current.set(preset.id, getValues());
    setPreset(chosen);
    create.reset();
    clearErrors();
    const next = typed.current.get(id) ?? { ...fieldsOf(chosen), api_key: "" };
    setValue("name", next.name);
    setValue("kind", next.kind);
    setValue("base_url", next.base_url);
    setValue("api_key", next.api_key);
    setValue("free", next.free);
  };
  const submit = handleSubmit((fields) =>
    create.mutate(bodyOf(fields), {
      onError: (thrown) => {
        const { field, message } = serverError(thrown, retry);
        if (field !== undefined)
          setError(field, { type: "server", message }, { shouldFocus: true });
      },
    }),
  );
  const failure = create.isError ? serverError(create.error, retry) : undefined;
  return (
    <FormDialog
      title="Add a provider"
      description="An account or a server with models for your agents."
      isDirty={() => !create.isSuccess && Object.keys(dirtyFields).length > 0}
      close={close}
      onSubmit={submit}
      submit={{ label: "Add and check", pending: create.isPending, pendingText: "Adding…" }}
    >
      <RadioCards
        label="Where are the models?"
        options={presetOptions}
        value={preset.id}
        onChange={choose}
        columns={3}
        density="compact"
      />
      <FoundNotice preset={preset} />
      <KeyField
        input={register("api_key")}
        optional={preset.keysPage === undefined}
        error={errors.api_key}
        hint={<KeyHint keysPage={preset.keysPage} />}
      />
      <AddressField kind={watch("kind")} error={errors.base_url} input={register("base_url")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name"
          error={messageOf(errors.name)}
          hint={`Agents write ${watch("name").trim() || "name"}/ before a model.`}
        >
          <TextInput {...register("name")} mono autoComplete="off" spellCheck={false} />
        </Field>
        <Field label="API" error={messageOf(errors.kind)} hint="The format of its requests.">
          <Select {...register("kind")} options={kindOptions} />
        </Field>
      </div>
      <FreeField input={register("free")} />
      <FormError error={failure?.field === undefined ? failure?.message : undefined} />
    </FormDialog>
  );
}
