import { Plus, Trash2 } from "lucide-react";
import { useFieldArray } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import {
  Button,
  Checkbox,
  Field,
  FieldError,
  IconButton,
  PasswordInput,
  TextInput,
  useFormPending,
} from "../../ui/index.ts";
import type { SubscriptionFormState } from "./subscription-fields.ts";

interface HeadersFieldProps {
  readonly form: SubscriptionFormState;
  /** Names of the headers that are stored. Their values cannot be read. */
  readonly stored: readonly string[];
  /** Whether headers must be entered again, because the stored ones are for another server. */
  readonly mustReplace: boolean;
}

/** Fields for headers that all deliveries except callbacks get, for example a gateway's key. */
export function HeadersField({ form, stored, mustReplace }: HeadersFieldProps) {
  const { control, register, watch, formState } = form;
  const { fields, append, remove } = useFieldArray({ control, name: "headers" });
  const { errors } = formState;
  const isPending = useFormPending();
  const isKept = stored.length > 0 && !mustReplace && !watch("replacesHeaders");
  const hasStored = stored.length > 0 && !mustReplace;
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="pb-1 text-label font-semibold text-ink-2">Extra headers</legend>
      <p className="text-label text-ink-3">
        {mustReplace && stored.length > 0
          ? "The stored values were entered for another server. Enter them again, or remove them."
          : "Sent with every delivery except callbacks, stored encrypted, and never shown again."}
      </p>
      {hasStored ? (
        <Checkbox
          {...register("replacesHeaders")}
          label={`Replace the stored headers: ${stored.join(", ")}`}
        />
      ) : null}
      {isKept
        ? null
        : fields.map((field, index) => (
            <div
              key={field.id}
              className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-2 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto]"
            >
              <Field
                label={`Name of header ${index + 1}`}
                labelHidden
                error={messageOf(errors.headers?.[index]?.name)}
              >
                <TextInput
                  {...register(`headers.${index}.name`)}
                  mono
                  autoComplete="off"
                  spellCheck={false}
                  placeholder="Authorization"
                />
              </Field>
              <div className="col-span-2 row-start-2 min-w-0 sm:col-span-1 sm:col-start-2 sm:row-start-1">
                <Field
                  label={`Value of header ${index + 1}`}
                  labelHidden
                  error={messageOf(errors.headers?.[index]?.value)}
                >
                  <PasswordInput
                    {...register(`headers.${index}.value`)}
                    mono
                    autoComplete="new-password"
                    placeholder="Value"
                  />
                </Field>
              </div>
              <IconButton
                icon={Trash2}
                label={`Remove header ${index + 1}`}
                onClick={() => remove(index)}
                disabled={isPending}
              />
            </div>
          ))}
      <FieldError message={messageOf(errors.headers?.root ?? errors.headers)} />
      {isKept ? null : (
        <div>
          <Button
            size="small"
            variant="quiet"
            icon={Plus}
            disabled={isPending}
            onClick={() => {
              if (stored.length === 0) form.setValue("replacesHeaders", true);
              append({ name: "", value: "" });
            }}
          >
            Add header
          </Button>
        </div>
      )}
    </fieldset>
  );
}
