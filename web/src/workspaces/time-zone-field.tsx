import type { Ref } from "react";
import { Field, SearchSelect, useNow } from "../ui/index.ts";
import { clockIn, timeZones } from "./time-zones.ts";

interface TimeZoneFieldProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly onBlur: () => void;
  readonly error: string | undefined;
  /** Says when a change takes effect. */
  readonly note?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

/** The field for a workspace's time zone. It shows the current local time in the zone. */
export function TimeZoneField({ value, error, note, ...rest }: TimeZoneFieldProps) {
  const clock = clockIn(value, useNow());
  const hints = [
    clock === undefined ? undefined : `Now ${clock}.`,
    "Days of statistics and of ceilings, and months of the plan, start at midnight there.",
    note,
  ];
  return (
    <Field
      label="Time zone"
      error={error}
      hint={hints.filter((hint) => hint !== undefined).join(" ")}
    >
      <SearchSelect label="Time zone" value={value} options={timeZones()} {...rest} />
    </Field>
  );
}
