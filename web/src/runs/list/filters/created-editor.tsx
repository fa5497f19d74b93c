import { Check } from "lucide-react";
import { type FormEvent, useState } from "react";
import { fromZoned, toZoned } from "../../../format/index.ts";
import { Button, Field, TextInput, useTimeZone } from "../../../ui/index.ts";
import { presets } from "./created-range.ts";
import { timeOf } from "./run-filters.ts";

interface CreatedEditorProps {
  /** A range in the format of created-range.ts; empty if nothing is chosen. */
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** An editor for the time at which runs were created: a range that ends now, or two times. */
export function CreatedEditor({ value, onChoose }: CreatedEditorProps) {
  return (
    <div className="flex w-64 flex-col gap-1">
      {presets.map((preset) => (
        <button
          key={preset.value}
          type="button"
          aria-pressed={preset.value === value}
          onClick={() => onChoose(preset.value)}
          className="flex min-h-8 w-full items-center gap-2 rounded-control px-2 text-left hover:bg-hover focus-visible:-outline-offset-2"
        >
          <span className="min-w-0 flex-1 truncate">{preset.label}</span>
          {preset.value === value ? <Check aria-hidden /> : null}
        </button>
      ))}
      <CustomRange value={value} onChoose={onChoose} />
    </div>
  );
}

function CustomRange({ value, onChoose }: CreatedEditorProps) {
  const zone = useTimeZone();
  const [from = "", to = ""] = value.includes("/") ? value.split("/") : [];
  const [after, setAfter] = useState(() => fieldOf(from, zone));
  const [before, setBefore] = useState(() => fieldOf(to, zone));
  const [error, setError] = useState<string>();
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // If a time is typed only in part, the value of its field is empty. Only the validity check
    // distinguishes this field from one without a time.
    if (!event.currentTarget.checkValidity())
      return setError("Complete or clear the time that is typed in part.");
    const start = fromZoned(after, zone);
    const end = fromZoned(before, zone);
    if (start === undefined && end === undefined) return setError("Choose at least one time.");
    if (start !== undefined && end !== undefined && start >= end)
      return setError("The start must be before the end.");
    onChoose(`${isoOf(start)}/${isoOf(end)}`);
  };
  return (
    <form onSubmit={apply} noValidate className="flex flex-col gap-3 border-t border-rule p-2">
      <Field label="From" error={error}>
        <TextInput
          type="datetime-local"
          value={after}
          onChange={(event) => setAfter(event.target.value)}
        />
      </Field>
      <Field label="To" hint={`Times are in ${zone}.`}>
        <TextInput
          type="datetime-local"
          value={before}
          onChange={(event) => setBefore(event.target.value)}
        />
      </Field>
      <Button type="submit">Apply range</Button>
    </form>
  );
}

const isoOf = (ms: number | undefined) => (ms === undefined ? "" : new Date(ms).toISOString());

function fieldOf(value: string, zone: string): string {
  const ms = value === "" ? undefined : timeOf(value, Date.now());
  return ms === undefined ? "" : toZoned(ms, zone);
}
