import { Check } from "lucide-react";
import { useState } from "react";
import { FoundCount, maxListed } from "../form/search/found-count.tsx";
import { SearchField } from "../form/search/search-field.tsx";
import type { FilterDefinition } from "./filter.ts";

interface FilterOptionsProps extends Pick<FilterDefinition, "label" | "valueOfId"> {
  readonly options: NonNullable<FilterDefinition["options"]>;
  readonly multiple: boolean;
  /** The chosen value; with `multiple`, the chosen values separated by commas. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** From this number of options on, they can be searched. */
const searchedFrom = 9;

/** The choices of a filter. */
export function FilterOptions(props: FilterOptionsProps) {
  const { label, options, valueOfId, multiple, value, onChange } = props;
  // The choice has a state of its own, because `value` changes with a delay: at the second of two
  // quick presses, `value` would not contain the first choice yet.
  const [shown, setShown] = useState(value);
  const [text, setText] = useState("");
  const chosen = chosenIn(multiple ? shown : value, multiple);
  const [chosenBefore] = useState(() => chosenIn(value, multiple));
  const press = (pressed: string) => {
    if (!multiple) return onChange(pressed);
    if (!chosen.delete(pressed)) chosen.add(pressed);
    // The values are in the order of the options, so that equal filters result in equal URLs.
    const values = options.map((option) => option.value).filter((each) => chosen.has(each));
    setShown(values.join(","));
    onChange(values.join(","));
  };
  const searched = text.trim();
  const ofId = valueOfId?.(searched);
  const found = options.filter(
    (option) =>
      option.value === ofId || option.label.toLowerCase().includes(searched.toLowerCase()),
  );
  if (ofId !== undefined && options.every((option) => option.value !== ofId))
    found.push({ value: ofId, label: "Use this id" });
  return (
    <>
      {options.length < searchedFrom && valueOfId === undefined ? null : (
        <div className="sticky top-0 z-1 flex bg-sheet pb-1">
          <SearchField
            label={`Search ${label}`}
            placeholder={valueOfId === undefined ? "Name" : "Name or id"}
            value={text}
            onChange={setText}
            onSubmit={() => {
              const [only, ...others] = found;
              if (only !== undefined && others.length === 0) press(only.value);
            }}
          />
        </div>
      )}
      {listed(found, chosenBefore).map((option) => (
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
      ))}
      <FoundCount count={found.length} />
    </>
  );
}

/** Returns the options to list: if there are many, those that were chosen before come first. */
export function listed<Option extends { readonly value: string }>(
  found: readonly Option[],
  chosenBefore: ReadonlySet<string>,
): readonly Option[] {
  if (found.length <= maxListed) return found;
  const first = found.filter(({ value }) => chosenBefore.has(value));
  const others = found.filter(({ value }) => !chosenBefore.has(value));
  return [...first, ...others].slice(0, maxListed);
}

const chosenIn = (value: string, multiple: boolean): Set<string> =>
  new Set(multiple ? value.split(",").filter(Boolean) : [value]);
