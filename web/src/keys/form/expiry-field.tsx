import type { UseFormReturn } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { formatDate } from "../../format/index.ts";
import { Field, NumberInput, Select, useNow, useTimeZone } from "../../ui/index.ts";
import { daysIn, type KeyFields } from "./key-fields.ts";

interface ExpiryFieldProps {
  readonly form: UseFormReturn<KeyFields>;
  /** Expiry of a key that exists; null if it never expires, undefined for a new key. */
  readonly expiresAt: string | null | undefined;
}

const choices = [
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
  { value: "other", label: "In another number of days" },
  { value: "never", label: "Never" },
];

const dayMs = 86_400_000;

/**
 * The field for the expiry of a key. A number of days counts from now, even for an existing key.
 */
export function ExpiryField({ form, expiresAt }: ExpiryFieldProps) {
  const { register, watch, formState } = form;
  const now = useNow();
  const zone = useTimeZone();
  const [expiry, days] = watch(["expiry", "days"]);
  const count = daysIn(expiry === "other" ? days : expiry);
  const stored =
    expiresAt === undefined
      ? []
      : [
          {
            value: "keep",
            label:
              expiresAt === null ? "Never, as now" : `${formatDate(expiresAt, now, zone)}, as now`,
          },
        ];
  const hint =
    expiry === "never"
      ? "It stays valid until somebody deletes it. An expiry limits the harm of a leaked key."
      : Number.isInteger(count) && count > 0 && count <= 36_500
        ? `On ${formatDate(now + count * dayMs, now, zone)}. Later you can extend it.`
        : undefined;
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <Field label="Expires" hint={expiry === "other" ? undefined : hint}>
        <Select {...register("expiry")} options={[...stored, ...choices]} />
      </Field>
      {expiry === "other" ? (
        <Field label="Days from now" error={messageOf(formState.errors.days)} hint={hint}>
          <NumberInput {...register("days")} unit="days" inputMode="numeric" autoFocus />
        </Field>
      ) : null}
    </div>
  );
}
