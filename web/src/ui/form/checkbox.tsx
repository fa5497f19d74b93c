import { Check, Minus } from "lucide-react";
import { type ComponentProps, type ReactNode, useCallback, useId } from "react";
import { useFormPendingLock } from "./form-pending.ts";

interface CheckboxProps extends Omit<ComponentProps<"input">, "className" | "style" | "type"> {
  readonly label: string;
  readonly labelHidden?: boolean | undefined;
  readonly hint?: ReactNode;
  /** True if this checkbox controls several others, of which some but not all are checked. */
  readonly indeterminate?: boolean | undefined;
}

/** A checkbox. For a setting that takes effect at once, use Switch. */
export function Checkbox({ label, labelHidden, hint, indeterminate, ref, ...rest }: CheckboxProps) {
  const note = useId();
  const attach = useCallback(
    (input: HTMLInputElement | null) => {
      if (input !== null) input.indeterminate = indeterminate === true;
      if (typeof ref === "function") return ref(input);
      if (ref) ref.current = input;
    },
    [ref, indeterminate],
  );
  return (
    <label className="flex min-w-0 items-start gap-2 has-disabled:cursor-not-allowed has-disabled:text-ink-3 has-aria-disabled:cursor-not-allowed has-aria-disabled:text-ink-3">
      <span className="relative inline-flex h-5 items-center">
        <input
          {...rest}
          {...useFormPendingLock()}
          ref={attach}
          type="checkbox"
          aria-describedby={hint === undefined ? undefined : note}
          className="peer size-4 appearance-none rounded-control border border-edge bg-field checked:border-tide checked:bg-tide indeterminate:border-tide indeterminate:bg-tide disabled:border-rule disabled:bg-page forced-colors:appearance-auto"
        />
        {/* A long table has many checkboxes, so marks that are not visible are not rendered. */}
        {rest.checked === false ? null : (
          <span className="pointer-events-none absolute left-0 hidden text-on-tide peer-checked:inline-flex peer-indeterminate:hidden peer-disabled:text-ink-3 forced-colors:hidden">
            <Check aria-hidden strokeWidth={2.5} className="scale-75" />
          </span>
        )}
        {indeterminate === true ? (
          <span className="pointer-events-none absolute left-0 hidden text-on-tide peer-indeterminate:inline-flex forced-colors:hidden">
            <Minus aria-hidden strokeWidth={2.5} className="scale-75" />
          </span>
        ) : null}
      </span>
      <span className={labelHidden ? "sr-only" : "flex min-w-0 flex-col"}>
        {label}
        {hint === undefined ? null : (
          <span id={note} className="text-label text-ink-3">
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}
