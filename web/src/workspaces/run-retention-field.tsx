import type { ComponentProps } from "react";
import { Field, NumberInput } from "../ui/index.ts";

interface RunRetentionFieldProps extends ComponentProps<typeof NumberInput> {
  /** Days for which the operator keeps runs; null: for ever. */
  readonly maxDays: number | null;
  readonly error: string | undefined;
}

/** Minimum days that a workspace can choose. */
const minDays = 7;

/**
 * The field for how long the workspace keeps its runs. If it is empty, `maxDays` applies. If
 * `maxDays` is below `minDays`, the workspace cannot choose: the field shows `maxDays`, which then
 * applies even if the workspace has chosen a number before.
 */
export function RunRetentionField({ maxDays, error, disabled, ...input }: RunRetentionFieldProps) {
  const isFixed = maxDays !== null && maxDays < minDays;
  return (
    <Field label="Keep runs for" hint={hintOf(maxDays, isFixed)} error={error}>
      <NumberInput
        {...(isFixed ? { value: maxDays, readOnly: true } : input)}
        unit="days"
        inputMode="numeric"
        placeholder={maxDays === null ? "For ever" : String(maxDays)}
        disabled={isFixed || disabled}
      />
    </Field>
  );
}

function hintOf(maxDays: number | null, isFixed: boolean): string {
  const start = "A run is deleted this long after its end, with its events and files.";
  if (maxDays === null)
    return `${start} At least ${minDays} days. Leave it empty to keep runs for ever.`;
  if (isFixed) return `${start} The operator of this server has set this time.`;
  return `${start} ${minDays} to ${maxDays} days. Leave it empty for ${maxDays}, the longest that the operator of this server allows.`;
}
