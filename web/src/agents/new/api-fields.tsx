import type { UseFormReturn } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { Field, PasswordInput, TextInput } from "../../ui/index.ts";
import type { NewAgentFields } from "./agent-fields.ts";
import type { TemplateApi } from "./templates.ts";

interface ApiFieldsProps {
  readonly api: TemplateApi;
  readonly form: UseFormReturn<NewAgentFields>;
}

/** The fields for the address and the key of the API that the template's agent calls. */
export function ApiFields({ api, form: { register, formState } }: ApiFieldsProps) {
  const { errors } = formState;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={api.label} hint={api.hint} error={messageOf(errors.url)}>
        <TextInput {...register("url")} mono type="url" autoComplete="off" spellCheck={false} />
      </Field>
      <Field
        label="API key"
        optional
        hint="Sent as Authorization: Bearer. Stored encrypted, never shown to the model."
        error={messageOf(errors.apiKey)}
      >
        <PasswordInput {...register("apiKey")} autoComplete="new-password" />
      </Field>
    </div>
  );
}
