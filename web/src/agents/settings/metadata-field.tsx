import { maxMetadataCharacters } from "@beckon/contract";
import { useFormContext } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { formatCount } from "../../format/index.ts";
import { Field, TextArea } from "../../ui/index.ts";
import { labels } from "./fields.ts";
import type { FormValues } from "./form-values.ts";
import { Section } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";

/** The field for the metadata, which clients of the API store with the agent. */
export function MetadataField() {
  const { register, formState } = useFormContext<FormValues>();
  return (
    <Section
      title={labels.metadata}
      description="A JSON object that Beckon stores for you and does not interpret."
      beside="label"
      fields={["metadata"]}
      closed
    >
      <Field
        label="Metadata as JSON"
        optional
        error={messageOf(formState.errors.metadata)}
        hint={`At most ${formatCount(maxMetadataCharacters)} characters.`}
      >
        <TextArea
          {...register("metadata")}
          readOnly={useSettings().disabledReason !== undefined}
          mono
          rows={3}
          spellCheck={false}
          placeholder={'{"team": "support"}'}
        />
      </Field>
    </Section>
  );
}
