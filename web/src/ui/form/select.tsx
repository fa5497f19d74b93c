import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { useControl } from "./field-context.ts";
import { controlLook } from "./look.ts";

/** A choice of {@link Select}. */
export interface SelectOption {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean | undefined;
}

/** A labelled group of choices. */
export interface SelectGroup {
  readonly group: string;
  readonly options: readonly SelectOption[];
}

interface SelectProps
  extends Omit<ComponentProps<"select">, "className" | "style" | "size" | "children"> {
  readonly options: readonly (SelectOption | SelectGroup)[];
  /**
   * Text of a first option with an empty value, for example "Choose a model". Default: no such
   * option.
   */
  readonly placeholder?: string | undefined;
}

/** A native `<select>`. */
export function Select({ options, placeholder, id, ...rest }: SelectProps) {
  const control = useControl(id);
  // Browsers have no read-only `<select>`. Without an option to choose, its value stays.
  const isPending = control["aria-disabled"];
  const toOption = ({ value, label, disabled }: SelectOption) => (
    <option key={value} value={value} disabled={isPending || disabled}>
      {label}
    </option>
  );
  return (
    <span className="relative flex min-w-0 items-center">
      <select
        {...control}
        {...rest}
        className={`${controlLook} h-control appearance-none pr-8 pl-2`}
      >
        {placeholder === undefined ? null : toOption({ value: "", label: placeholder })}
        {options.map((entry) =>
          "group" in entry ? (
            <optgroup key={entry.group} label={entry.group}>
              {entry.options.map(toOption)}
            </optgroup>
          ) : (
            toOption(entry)
          ),
        )}
      </select>
      <span className="pointer-events-none absolute right-2 inline-flex text-ink-3">
        <ChevronDown aria-hidden />
      </span>
    </span>
  );
}
