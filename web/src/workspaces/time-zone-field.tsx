import type { Ref } from "react";
import { Field, SearchSelect, useNow } from "../ui/index.ts";
import { clockIn, timeZones } from "./time-zones.ts";

interface TimeZoneFieldProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly onBlur: () => void;
  readonly error: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

/** The field for a workspace's time zone. It shows the current local time in the zone. */
export function TimeZoneField({ value, error, ...rest }: TimeZoneFieldProps) {
  const clock = clockIn(value, useNow());
  return (
    <Field
      label="Time zone"
      error={error}
      hint={`${clock === undefined ? "" : `Now ${clock}. `}Days of statistics start at midnight there.`}
    >
      <SearchSelect label="Time zone" value={value} options={timeZones()} {...rest} />
    </Field>
  );
}
