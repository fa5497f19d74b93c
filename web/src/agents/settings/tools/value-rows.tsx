import { Plus, Trash2 } from "lucide-react";
import { useFieldArray } from "react-hook-form";
import { Button, Field, FieldError, IconButton, Select, TextInput } from "../../../ui/index.ts";
import { SecretValue } from "./secret-value.tsx";
import { emptyRow, type RowsName } from "./tool-values.ts";
import { useMessageAt } from "./use-message-at.ts";

interface ValueRowsProps {
  readonly name: RowsName;
  readonly title: string;
  readonly hint?: string;
  /** Called when the text field of a value loses the focus. Default: nothing is called. */
  readonly onBlur?: () => void;
}

const kinds = [
  { value: "text", label: "Text" },
  { value: "secret", label: "Secret" },
];

/**
 * The headers or query parameters of a tool, one in each row: a name, and a value, which can be a
 * secret. Without rows, only the title and the button that adds one are shown.
 */
export function ValueRows({ name, title, hint, onBlur }: ValueRowsProps) {
  const { control, register, messageAt, watch, setValue } = useMessageAt();
  const { fields, append, remove } = useFieldArray({ control, name });
  const rows = watch(name);
  const problem = messageAt(`${name}.root`);
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="pb-1 text-label font-semibold text-ink-2">{title}</legend>
      {fields.length > 0 && hint !== undefined ? (
        <p className="text-label text-ink-3">{hint}</p>
      ) : null}
      {fields.map((field, index) => {
        const at = `${name}.${index}` as const;
        const isSecret = rows[index]?.isSecret === true;
        return (
          <div
            key={field.id}
            className="grid grid-cols-[minmax(0,1fr)_6rem_auto] items-start gap-2 sm:grid-cols-[minmax(0,2fr)_6rem_minmax(0,3fr)_auto]"
          >
            <Field label={`Name ${index + 1}`} labelHidden error={messageAt(`${at}.name`)}>
              <TextInput {...register(`${at}.name`)} mono autoComplete="off" placeholder="Name" />
            </Field>
            <Field label={`Kind ${index + 1}`} labelHidden>
              <Select
                options={kinds}
                value={isSecret ? "secret" : "text"}
                onChange={({ target }) =>
                  setValue(
                    at,
                    {
                      ...emptyRow,
                      name: rows[index]?.name ?? "",
                      isSecret: target.value === "secret",
                    },
                    { shouldDirty: true },
                  )
                }
              />
            </Field>
            <div className="col-span-3 row-start-2 min-w-0 sm:col-span-1 sm:col-start-3 sm:row-start-1">
              {isSecret ? (
                <SecretValue at={at} index={index} />
              ) : (
                <Field label={`Value ${index + 1}`} labelHidden error={messageAt(`${at}.value`)}>
                  <TextInput
                    {...register(`${at}.value`, onBlur && { onBlur })}
                    mono
                    autoComplete="off"
                    placeholder="Value"
                  />
                </Field>
              )}
            </div>
            <IconButton
              icon={Trash2}
              label={`Remove ${rows[index]?.name || `row ${index + 1}`}`}
              onClick={() => remove(index)}
            />
          </div>
        );
      })}
      <FieldError message={problem} />
      <div>
        <Button size="small" variant="quiet" icon={Plus} onClick={() => append(emptyRow)}>
          {name.endsWith("headers") ? "Add header" : "Add query parameter"}
        </Button>
      </div>
    </fieldset>
  );
}
