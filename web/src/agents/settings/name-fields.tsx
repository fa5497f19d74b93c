import { useFormContext } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { Field, TextArea, TextInput } from "../../ui/index.ts";
import { labels } from "./fields.ts";
import type { FormValues } from "./form-values.ts";
import { Section } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";

/** The fields for the agent's name and description. */
export function NameFields() {
  const { register, formState } = useFormContext<FormValues>();
  const readOnly = useSettings().disabledReason !== undefined;
  return (
    <Section
      title="Name and description"
      description="How people find the agent. The model sees neither."
      beside="label"
      fields={["name", "description"]}
      closed
    >
      <Field label={labels.name} error={messageOf(formState.errors.name)}>
        <TextInput {...register("name")} readOnly={readOnly} autoComplete="off" dir="auto" />
      </Field>
      <Field label={labels.description} optional error={messageOf(formState.errors.description)}>
        <TextArea {...register("description")} readOnly={readOnly} rows={2} dir="auto" />
      </Field>
    </Section>
  );
}
