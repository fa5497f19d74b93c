import { Field, SegmentedControl, TextArea } from "../../ui/index.ts";
import { type PayloadType, payloadTypes } from "./payload.ts";

interface PayloadEditorProps {
  readonly type: PayloadType;
  readonly onTypeChange: (type: PayloadType) => void;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error: string | undefined;
}

/** The editor for a test payload, and for its content type. */
export function PayloadEditor({ type, onTypeChange, value, onChange, error }: PayloadEditorProps) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field id="payload" label="Example payload" error={error}>
        <TextArea
          mono
          rows={5}
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
      <div className="flex">
        <SegmentedControl
          label="Content type"
          options={payloadTypes}
          value={type}
          onChange={onTypeChange}
        />
      </div>
    </div>
  );
}
