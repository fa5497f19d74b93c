import type { LucideIcon } from "lucide-react";
import { type ReactNode, useId } from "react";
import { FieldError } from "./field-error.tsx";
import { useFormPendingLock } from "./form-pending.ts";
import { radioLook } from "./look.ts";

/** A choice of {@link RadioCards}. */
export interface RadioCard<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly icon?: LucideIcon | undefined;
  readonly disabledReason?: string | undefined;
}

interface RadioCardsProps<Value extends string> {
  readonly label: string;
  readonly labelHidden?: boolean | undefined;
  readonly options: readonly RadioCard<Value>[];
  readonly value: Value | undefined;
  readonly onChange: (value: Value) => void;
  readonly error?: string | undefined;
  /** Number of columns on wide screens; phones show one. Default: 1. */
  readonly columns?: 1 | 2 | 3;
  /**
   * `compact` is for many choices of one or two words: phones then show two columns. Default:
   * normal.
   */
  readonly density?: "normal" | "compact";
}

const grids = { 1: "", 2: "sm:grid-cols-2", 3: "sm:grid-cols-3" };

/** A choice between few options, each with an explanation. */
export function RadioCards<Value extends string>({
  label,
  labelHidden,
  options,
  value,
  onChange,
  error,
  columns = 1,
  density = "normal",
}: RadioCardsProps<Value>) {
  const name = useId();
  const lock = useFormPendingLock();
  return (
    <fieldset
      className="flex min-w-0 flex-col"
      aria-describedby={error === undefined ? undefined : `${name}-error`}
    >
      <legend className={labelHidden ? "sr-only" : "pb-1 text-label font-semibold text-ink-2"}>
        {label}
      </legend>
      <div
        className={`grid gap-2 ${density === "compact" ? "grid-cols-2" : "grid-cols-1"} ${grids[columns]}`}
      >
        {options.map((option) => (
          <label
            key={option.value}
            className={`flex min-w-0 items-start gap-2 rounded-control border border-edge bg-sheet ${density === "compact" ? "px-2.5 py-2" : "p-3"} transition-colors hover:bg-hover has-checked:border-tide has-checked:bg-pick has-disabled:cursor-not-allowed has-disabled:border-rule has-disabled:bg-transparent has-disabled:text-ink-3 has-aria-disabled:cursor-not-allowed has-aria-disabled:text-ink-3 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-tide`}
          >
            <span className="inline-flex h-5 items-center">
              <input
                {...lock}
                type="radio"
                name={name}
                value={option.value}
                checked={option.value === value}
                disabled={option.disabledReason !== undefined}
                onChange={() => onChange(option.value)}
                className={radioLook}
              />
            </span>
            <span className="flex min-w-0 flex-1 flex-col">
              <span className="font-semibold">{option.label}</span>
              {option.hint === undefined && option.disabledReason === undefined ? null : (
                <span className="text-dense text-ink-2">
                  {option.disabledReason ?? option.hint}
                </span>
              )}
            </span>
            {option.icon === undefined ? null : (
              <span className="inline-flex h-5 items-center text-ink-3">
                <option.icon aria-hidden />
              </span>
            )}
          </label>
        ))}
      </div>
      {error === undefined ? null : (
        <div className="pt-1">
          <FieldError id={`${name}-error`} message={error} />
        </div>
      )}
    </fieldset>
  );
}
