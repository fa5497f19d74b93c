import { Trash2 } from "lucide-react";
import { useState } from "react";
import { Checkbox, Field, IconButton, Select, TextArea, TextInput } from "../../../ui/index.ts";
import { isReading, templatesOf, withPlaceholders } from "./tool-values.ts";
import { useMessageAt } from "./use-message-at.ts";
import { ValueRows } from "./value-rows.tsx";

const methods = (["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const).map((value) => ({
  value,
  label: value,
}));
const bodyTypes = [
  { value: "json", label: "JSON" },
  { value: "form", label: "Form (application/x-www-form-urlencoded)" },
];

interface OperationFieldsProps {
  readonly index: number;
  /** Removes the function; undefined for the only function, which cannot be removed. */
  readonly onRemove: (() => void) | undefined;
}

/** A function that the model can call, and the request that it makes. */
export function OperationFields({ index, onRemove }: OperationFieldsProps) {
  const { register, messageAt, getValues, setValue, watch } = useMessageAt();
  const at = `operations.${index}` as const;
  const method = watch(`${at}.method`);
  // A function that reads needs no such header, but one that is set is sent. The field stays while
  // a person empties it to type another name.
  const [hadHeader, setHadHeader] = useState(false);
  if (watch(`${at}.idempotencyHeader`) !== "" && !hadHeader) setHadHeader(true);
  const addPlaceholders = () => {
    const values = getValues(at);
    const parameters = withPlaceholders(values.parameters, templatesOf(values));
    setValue(`${at}.parameters`, parameters, { shouldDirty: true });
  };
  return (
    <section
      aria-label={`Function ${index + 1}`}
      className="flex min-w-0 flex-col gap-4 border-l-2 border-rule pl-4"
    >
      <div className="flex items-start gap-2">
        <div className="grid min-w-0 flex-1 grid-cols-1 gap-4 sm:grid-cols-2">
          <Field
            label="Function"
            hint="The name that the model calls."
            error={messageAt(`${at}.name`)}
          >
            <TextInput
              {...register(`${at}.name`)}
              mono
              autoComplete="off"
              placeholder="read_order"
            />
          </Field>
          <Field
            label="What it does"
            hint="Tells the model when to use it."
            error={messageAt(`${at}.description`)}
          >
            <TextArea
              {...register(`${at}.description`)}
              rows={2}
              autoComplete="off"
              placeholder="Reads an order by its number"
            />
          </Field>
        </div>
        {onRemove === undefined ? null : (
          <IconButton
            icon={Trash2}
            label={`Remove function ${index + 1}`}
            size="small"
            onClick={onRemove}
          />
        )}
      </div>
      <div className="grid grid-cols-[7rem_minmax(0,1fr)] gap-2">
        <Field label="Method" error={messageAt(`${at}.method`)}>
          <Select
            {...register(`${at}.method`, {
              onChange: ({ target }) =>
                setValue(`${at}.safeToRepeat`, isReading(target.value), { shouldDirty: true }),
            })}
            options={methods}
          />
        </Field>
        <Field
          label="URL"
          hint="The model fills in {placeholders} of path and query."
          error={messageAt(`${at}.url`)}
        >
          <TextInput
            {...register(`${at}.url`, { onBlur: addPlaceholders })}
            mono
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder="https://api.example.com/orders/{number}"
          />
        </Field>
      </div>
      <Field
        label="Parameters as JSON Schema"
        optional
        hint="Placeholders of the URL are added here as texts. Describe them for the model."
        error={messageAt(`${at}.parameters`)}
      >
        <TextArea {...register(`${at}.parameters`)} mono rows={3} spellCheck={false} />
      </Field>
      {isReading(method) ? null : (
        <>
          <Field
            label="Body as JSON Schema"
            optional
            hint="The model provides the body. Properties with const are sent unchanged."
            error={messageAt(`${at}.body`)}
          >
            <TextArea {...register(`${at}.body`)} mono rows={3} spellCheck={false} />
          </Field>
          <Field
            label="Body is sent as"
            hint="A form has only texts, numbers, booleans and lists of these."
            error={messageAt(`${at}.bodyType`)}
          >
            <Select {...register(`${at}.bodyType`)} options={bodyTypes} />
          </Field>
        </>
      )}
      <ValueRows name={`${at}.query`} title="Query parameters" onBlur={addPlaceholders} />
      <ValueRows name={`${at}.headers`} title="Headers" onBlur={addPlaceholders} />
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <Checkbox
          {...register(`${at}.safeToRepeat`)}
          label="Safe to repeat"
          hint="Beckon repeats a call whose response was lost in a crash."
        />
        {!isReading(method) || hadHeader ? (
          <Field
            label="Header for the idempotency key"
            optional
            error={messageAt(`${at}.idempotencyHeader`)}
          >
            <TextInput
              {...register(`${at}.idempotencyHeader`)}
              mono
              autoComplete="off"
              placeholder="Idempotency-Key"
            />
          </Field>
        ) : null}
      </div>
    </section>
  );
}
