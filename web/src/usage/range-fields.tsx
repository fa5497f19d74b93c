import { useState } from "react";
import { Field, Select, TextInput } from "../ui/index.ts";
import { nameOf, type RangeName, type RangeSearch } from "./range.ts";

const names = [
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
  { value: "month", label: "This month" },
] as const;

interface RangeFieldsProps {
  readonly search: RangeSearch;
  /** The days that the report shows; undefined while it loads. */
  readonly shown: { readonly from: string; readonly to: string } | undefined;
  readonly onChange: (search: Required<RangeSearch>) => void;
}

/** The fields for the time range: a named range, or its first and last day. */
export function RangeFields({ search, shown, onChange }: RangeFieldsProps) {
  const name = nameOf(search);
  const custom = name === "custom" ? search : undefined;
  const from = custom?.from || shown?.from || "";
  const to = custom?.to || shown?.to || "";
  const chooseDays = (days: { readonly from: string; readonly to: string }) =>
    onChange({ range: undefined, ...days });
  const choose = (chosen: RangeName | "custom") => {
    // "Other days" keeps the days that are shown, and puts them into the URL.
    if (chosen === "custom") chooseDays({ from, to });
    // The last 30 days are shown without parameters.
    else onChange({ range: chosen === "30" ? undefined : chosen, from: undefined, to: undefined });
  };
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      <Field label="Time" labelHidden>
        <Select
          options={[...names, { value: "custom", label: "Other days" }]}
          value={name}
          onChange={(event) => choose(event.target.value as RangeName | "custom")}
        />
      </Field>
      <div className="flex min-w-0 items-center gap-2">
        <DayField
          label="First day"
          value={from}
          onChange={(day) => chooseDays({ from: day, to })}
        />
        <span aria-hidden="true" className="text-ink-3">
          –
        </span>
        <DayField label="Last day" value={to} onChange={(day) => chooseDays({ from, to: day })} />
      </div>
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  /** A date in the form YYYY-MM-DD; empty while it is not known. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/**
 * The field for a date. While a date is being typed, it can be a valid but different date. So the
 * range changes only when the field is left or Enter is pressed.
 */
function DayField({ label, value, onChange }: DayFieldProps) {
  const [draft, setDraft] = useState({ value, text: value });
  // The text is reset during rendering and not in an effect: an effect can run after the next key
  // press, and would discard it. A text that was typed while `value` was not known stays.
  if (draft.value !== value)
    setDraft({ value, text: draft.value === "" && draft.text !== "" ? draft.text : value });
  const { text } = draft;
  const setText = (next: string) => setDraft({ value, text: next });
  const commit = () => {
    if (text === "") setText(value);
    else if (text !== value) onChange(text);
  };
  return (
    <Field label={label} labelHidden>
      <TextInput
        type="date"
        aria-label={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
        }}
      />
    </Field>
  );
}
