import { ChevronsUpDown } from "lucide-react";
import type { Ref } from "react";
import {
  Field,
  IconButton,
  lazyPart,
  Popover,
  Spinner,
  TextInput,
  useFormPending,
} from "../../ui/index.ts";

const ModelPicker = lazyPart(
  async () => (await import("./model-picker.tsx")).ModelPicker,
  () => <Spinner label="Loading the models" />,
);

interface ModelFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onChange: (model: string) => void;
  readonly onBlur: () => void;
  readonly error: string | undefined;
  /** Hides the label, for screens where a heading says the same. */
  readonly labelHidden?: boolean;
  readonly readOnly?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}

/**
 * The field for a model in the form `provider/model`. It is typed, or picked from the models that
 * the providers list.
 */
export function ModelField(props: ModelFieldProps) {
  const { name, value, onChange, onBlur, error, labelHidden, ref } = props;
  const readOnly = useFormPending() || props.readOnly;
  return (
    <Field
      label="Model"
      labelHidden={labelHidden}
      error={error}
      hint="provider/model. You can also type a name that is not listed."
    >
      <TextInput
        ref={ref}
        name={name}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onBlur={onBlur}
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
                <ModelPicker
                  onChoose={(model) => {
                    onChange(model);
                    close();
                  }}
                />
              )}
            </Popover>
          )
        }
      />
    </Field>
  );
}
