import { limitRanges } from "@beckon/contract";
import { useFormContext } from "react-hook-form";
import { messageOf, wholeNumberIn } from "../../data/index.ts";
import { formatRange } from "../../format/index.ts";
import { Field, NumberInput, TextInput } from "../../ui/index.ts";
import { labels, limitNames } from "./fields.ts";
import type { FormValues } from "./form-values.ts";
import { Section } from "./section.tsx";
import { useSettings } from "./settings-context.tsx";
import { SizeOfField } from "./size-of-field.tsx";

type LimitName = (typeof limitNames)[number];

const rangeOf = (name: LimitName) => formatRange(limitRanges[name]);

const details: Readonly<Record<LimitName, { unit: string; hint: string; optional?: boolean }>> = {
  max_steps: { unit: "calls", hint: `Model calls in one run, ${rangeOf("max_steps")}.` },
  timeout_seconds: {
    unit: "seconds",
    hint: `Of a run from its start, ${rangeOf("timeout_seconds")}.`,
  },
  max_concurrent_runs: {
    unit: "runs",
    hint: `Further runs wait. ${rangeOf("max_concurrent_runs")}; empty for no limit.`,
    optional: true,
  },
  max_queued_runs: {
    unit: "runs",
    hint: `Further starts are rejected. ${rangeOf("max_queued_runs")}.`,
  },
  max_attempts: {
    unit: "attempts",
    hint: `How often a run is executed if its process crashes each time, ${rangeOf("max_attempts")}.`,
  },
  max_answer_bytes: {
    unit: "bytes",
    hint: `A longer one fails the run. ${rangeOf("max_answer_bytes")}.`,
  },
  max_cost_micros: {
    unit: "dollars",
    hint: "Empty for no limit.",
    optional: true,
  },
  reserve_output_tokens: {
    unit: "tokens",
    hint: `Of a model call under a limit, unless a maximum output is set. ${rangeOf("reserve_output_tokens")}.`,
  },
};

/** The fields for the limits of one run, and of all runs of the agent together. */
export function LimitFields() {
  const { register, formState } = useFormContext<FormValues>();
  const readOnly = useSettings().disabledReason !== undefined;
  return (
    <Section title="Limits" beside="label" fields={limitNames} closed>
      <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
        {limitNames.map((name) => {
          const { unit, hint, optional } = details[name];
          return (
            <Field
              key={name}
              label={labels[name]}
              optional={optional}
              hint={hint}
              aside={unit === "bytes" ? <SizeOfField name={name} /> : undefined}
              error={messageOf(formState.errors[name])}
            >
              {name === "max_cost_micros" ? (
                <TextInput
                  {...register(name)}
                  suffix={<span className="pr-1">{unit}</span>}
                  inputMode="decimal"
                  autoComplete="off"
                  readOnly={readOnly}
                />
              ) : (
                <NumberInput
                  {...register(name, { setValueAs: wholeNumberIn })}
                  unit={unit}
                  inputMode="numeric"
                  readOnly={readOnly}
                />
              )}
            </Field>
          );
        })}
      </div>
    </Section>
  );
}
