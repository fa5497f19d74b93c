import { ChevronDown } from "lucide-react";
import { type Ref, useState } from "react";
import { createDeferred, useDeferred } from "../../deferred.ts";
import { PopoverFrame } from "../../overlay/popover-frame.tsx";
import { useControl } from "../field-context.ts";
import { controlLook } from "../look.ts";

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
export function SearchSelect(props: SearchSelectProps) {
  const { label, value, onChange, onBlur, options, disabled, ref } = props;
  const control = useControl(undefined);
  const [open, setOpen] = useState(false);
  const choose = (chosen: string) => {
    onChange(chosen);
    setOpen(false);
  };
  const Choices = useDeferred(choices, open);
  return (
    <PopoverFrame
      look="list"
      label={label}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <button
          {...control}
          ref={ref}
          type="button"
          // With only the label as accessible name, screen readers would not read the value.
          aria-label={`${label}: ${value === "" ? "not chosen" : value}`}
          disabled={disabled}
          onBlur={onBlur}
          className={`${controlLook} relative flex h-control items-center pr-8 pl-2 text-left`}
        >
          <span className="truncate">{value}</span>
          <span className="absolute right-2 inline-flex text-ink-3">
            <ChevronDown aria-hidden />
          </span>
        </button>
      }
    >
      {Choices === undefined ? null : (
        <Choices label={label} value={value} options={options} onChoose={choose} />
      )}
    </PopoverFrame>
  );
}
