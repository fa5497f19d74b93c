import { type Ref, useState } from "react";
import { createDeferred, useDeferred } from "../../deferred.ts";
import { PopoverSelect } from "./popover-select.tsx";

interface SearchSelectProps {
  /** The name of the field, the same as in its label: "Time zone". */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur?: (() => void) | undefined;
  readonly options: readonly string[];
  readonly disabled?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

const choices = createDeferred(async () => (await import("./search-choices.tsx")).SearchChoices);

/** A choice between many texts, which are found by typing parts of them. */
export function SearchSelect({ label, value, onChange, options, ...field }: SearchSelectProps) {
  const [open, setOpen] = useState(false);
  const choose = (chosen: string) => {
    onChange(chosen);
    setOpen(false);
  };
  const Choices = useDeferred(choices, open, () => setOpen(false));
  return (
    <PopoverSelect {...field} label={label} text={value} open={open} onOpenChange={setOpen}>
      {Choices === undefined ? null : (
        <Choices label={label} value={value} options={options} onChoose={choose} />
      )}
    </PopoverSelect>
  );
}
