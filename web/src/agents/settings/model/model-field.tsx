import { ChevronsUpDown } from "lucide-react";
import { lazy, Suspense } from "react";
import { useFormContext } from "react-hook-form";
import { messageOf } from "../../../data/index.ts";
import { Field, IconButton, Popover, Spinner, TextInput } from "../../../ui/index.ts";
import { labels } from "../fields.ts";
import type { FormValues } from "../form-values.ts";
import { useSettings } from "../settings-context.tsx";

const ModelPicker = lazy(async () => ({
  default: (await import("./model-picker.tsx")).ModelPicker,
}));

/** `provider/model`, typed or picked from what the providers list. */
export function ModelField() {
  const { register, setValue, formState } = useFormContext<FormValues>();
  const readOnly = useSettings().disabledReason !== undefined;
  const choose = (model: string) =>
    setValue("model", model, { shouldDirty: true, shouldValidate: true, shouldTouch: true });
  return (
    <Field
      label={labels.model}
      labelHidden
      error={messageOf(formState.errors.model)}
      hint="provider/model. You can also type a name that is not listed."
    >
      <TextInput
        {...register("model")}
        mono
        readOnly={readOnly}
        autoComplete="off"
        spellCheck={false}
        suffix={
          readOnly ? null : (
            <Popover
              label="Models"
              align="end"
              trigger={
                <IconButton
                  icon={ChevronsUpDown}
                  label="Choose a model"
                  size="small"
                  tooltip={false}
                />
              }
            >
              {(close) => (
                <Suspense fallback={<Spinner label="Loading the models" />}>
                  <ModelPicker
                    onChoose={(model) => {
                      choose(model);
                      close();
                    }}
                  />
                </Suspense>
              )}
            </Popover>
          )
        }
      />
    </Field>
  );
}
