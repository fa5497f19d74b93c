import { maxOutputTokensRange } from "@beckon/contract";
import { useContext, useState } from "react";
import { Controller, useFormContext } from "react-hook-form";
import { messageOf, numberIn, wholeNumberIn } from "../../../data/index.ts";
import { formatRange } from "../../../format/index.ts";
import { Button, Field, NumberInput, Select } from "../../../ui/index.ts";
import { ModelField } from "../../model/model-field.tsx";
import { labels } from "../fields.ts";
import type { FormValues } from "../form-values.ts";
import { LayoutContext, Section } from "../section.tsx";
import { useSettings } from "../settings-context.tsx";
import { ProviderNotice } from "./provider-notice.tsx";

/** The fields for the model and for the options of its calls. */
export function ModelFields() {
  const layout = useContext(LayoutContext);
  const { errors } = useFormContext<FormValues>().formState;
  const readOnly = useSettings().disabledReason !== undefined;
  const [open, setOpen] = useState(false);
  const hasError = optionNames.some((name) => errors[name] !== undefined);
  // The options stay open when the error is corrected. Otherwise the field would disappear while a
  // person types in it.
  if (hasError && !open) setOpen(true);
  const isShown = layout === "page" || open;
  return (
    <Section
      title={labels.model}
      description="What answers, and how it is called. The provider's default applies to what is empty."
      beside="field"
      fields={["model", ...optionNames]}
      actions={
        layout === "page" ? undefined : (
          <Button
            size="small"
            variant="quiet"
            aria-expanded={isShown}
            onClick={() => setOpen(!isShown)}
          >
            {isShown ? "Fewer options" : "Options"}
          </Button>
        )
      }
    >
      <Controller<FormValues, "model">
        name="model"
        render={({ field, fieldState }) => (
          <ModelField
            {...field}
            labelHidden
            readOnly={readOnly}
            error={messageOf(fieldState.error)}
          />
        )}
      />
      <ProviderNotice />
      {isShown ? <ModelOptions /> : null}
    </Section>
  );
}

const optionNames = ["temperature", "max_output_tokens", "reasoning_effort", "stream"] as const;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"].map((value) => ({
  value,
  label: value === "xhigh" ? "Extra high" : value.charAt(0).toUpperCase() + value.slice(1),
}));

const streams = [
  { value: "auto", label: "When somebody watches" },
  { value: "always", label: "Always" },
  { value: "never", label: "Never" },
];

function ModelOptions() {
  const { register, formState } = useFormContext<FormValues>();
  const { errors } = formState;
  const readOnly = useSettings().disabledReason !== undefined;
  return (
    <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
      <Field
        label={labels.temperature}
        optional
        hint="0 is steady, 2 is varied."
        error={messageOf(errors.temperature)}
      >
        <NumberInput
          // Keypads of some countries have a comma and no point.
          {...register("temperature", {
            setValueAs: (value) =>
              numberIn(typeof value === "string" ? value.replace(",", ".") : value),
          })}
          placeholder="Default"
          readOnly={readOnly}
        />
      </Field>
      <Field
        label={labels.max_output_tokens}
        optional
        hint={`Of one model call, ${formatRange(maxOutputTokensRange)}.`}
        error={messageOf(errors.max_output_tokens)}
      >
        <NumberInput
          {...register("max_output_tokens", { setValueAs: wholeNumberIn })}
          unit="tokens"
          inputMode="numeric"
          placeholder="Default"
          readOnly={readOnly}
        />
      </Field>
      <Field
        label={labels.reasoning_effort}
        optional
        hint="Converted to what the provider supports."
        error={messageOf(errors.reasoning_effort)}
      >
        <Select
          {...register("reasoning_effort", { setValueAs: (value) => value || null })}
          options={efforts}
          placeholder="Default"
          disabled={readOnly}
        />
      </Field>
      <Field
        label={labels.stream}
        hint="How Beckon calls the provider."
        error={messageOf(errors.stream)}
      >
        <Select {...register("stream")} options={streams} disabled={readOnly} />
      </Field>
    </div>
  );
}
