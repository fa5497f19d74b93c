import { Check } from "lucide-react";
import { useState } from "react";
import type { FilterDefinition } from "./filter.ts";

interface FilterOptionsProps {
  readonly options: NonNullable<FilterDefinition["options"]>;
  readonly multiple: boolean;
  /** The chosen value; with `multiple`, the chosen values separated by commas. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The choices of a filter. */
export function FilterOptions({ options, multiple, value, onChange }: FilterOptionsProps) {
  // The choice has a state of its own, because `value` changes with a delay: at the second of two
  // quick presses, `value` would not contain the first choice yet.
  const [shown, setShown] = useState(value);
  const chosen = new Set(multiple ? shown.split(",").filter(Boolean) : [value]);
  const press = (pressed: string) => {
    if (!multiple) return onChange(pressed);
    if (!chosen.delete(pressed)) chosen.add(pressed);
    // The values are in the order of the options, so that equal filters result in equal URLs.
    const values = options.map((option) => option.value).filter((each) => chosen.has(each));
    setShown(values.join(","));
    onChange(values.join(","));
  };
  return options.map((option) => (
    <button
      key={option.value}
      type="button"
      aria-pressed={chosen.has(option.value)}
      onClick={() => press(option.value)}
      className="flex min-h-8 w-full items-center gap-2 rounded-control px-2 text-left hover:bg-hover focus-visible:-outline-offset-2"
    >
      <span className="min-w-0 flex-1 truncate" dir="auto">
        {option.label}
      </span>
      {chosen.has(option.value) ? <Check aria-hidden /> : null}
    </button>
  ));
}
