import { type FormEvent, useState } from "react";
import { fromZoned, startOfDay, toZoned } from "../format/index.ts";
import { Button, Field, TextInput, useTimeZone } from "../ui/index.ts";

interface TimeEditorProps {
  readonly label: string;
  /** An RFC 3339 time; empty if none is chosen yet. */
  readonly value: string;
  /** Called with the chosen time in UTC. */
  readonly onChoose: (value: string) => void;
}

/** An editor for a time in the workspace's time zone. */
export function TimeEditor({ label, value, onChoose }: TimeEditorProps) {
  const zone = useTimeZone();
  const [text, setText] = useState(() => {
    const ms = Date.parse(value);
    // For a new filter, the field starts with the beginning of today.
    return toZoned(Number.isNaN(ms) ? startOfDay(Date.now(), zone) : ms, zone);
  });
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // If the time is typed only in part, the value of the field is empty. Only the validity check
    // distinguishes this field from one without a time.
    if (!event.currentTarget.checkValidity())
      return setError("Complete the time that is typed in part.");
    const ms = fromZoned(text, zone);
    if (ms === undefined) return setError("Choose a time.");
    onChoose(new Date(ms).toISOString());
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3 p-2">
      <Field label={`${label}, time in ${zone}`} error={error}>
        <TextInput
          type="datetime-local"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </form>
  );
}
