import { maxInstructionsCharacters } from "@beckon/contract";
import { useContext } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { formatCount } from "../../format/index.ts";
import { Field, TextArea } from "../../ui/index.ts";
import { labels } from "./fields.ts";
import type { FormValues } from "./form-values.ts";
import { LayoutContext, Section } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";

/** From this length on, the number of characters is shown. */
const nearMax = 0.9 * maxInstructionsCharacters;

/** The field for the agent's instructions. */
export function InstructionsField() {
  const { register, formState } = useFormContext<FormValues>();
  const { disabledReason } = useSettings();
  const layout = useContext(LayoutContext);
  return (
    <Section
      title={labels.instructions}
      description="What the agent is to do, and how. The model reads them before every input."
      beside="field"
      fields={["instructions"]}
    >
      <Field
        label={labels.instructions}
        labelHidden
        error={messageOf(formState.errors.instructions)}
        hint={<Count />}
      >
        <TextArea
          {...register("instructions")}
          readOnly={disabledReason !== undefined}
          rows={layout === "page" ? 10 : 8}
          dir="auto"
          placeholder="You answer questions about…"
        />
      </Field>
    </Section>
  );
}

function Count() {
  const { length } = useWatch<FormValues, "instructions">({ name: "instructions" });
  if (length < nearMax) return null;
  return `${formatCount(length)} of ${formatCount(maxInstructionsCharacters)} characters`;
}
