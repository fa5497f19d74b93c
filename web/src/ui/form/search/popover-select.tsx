import { ChevronDown } from "lucide-react";
import type { ReactNode, Ref } from "react";
import { PopoverFrame } from "../../overlay/popover-frame.tsx";
import { useControl } from "../field-context.ts";
import { controlLook } from "../look.ts";

interface PopoverSelectProps {
  /** The name of the field, the same as in its label: "Time zone". */
  readonly label: string;
  /** The chosen option; empty if none is chosen. */
  readonly text: string;
  /** Shown if no option is chosen. Default: nothing. */
  readonly placeholder?: string;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onBlur?: (() => void) | undefined;
  readonly disabled?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
  /** The options. They are mounted only while the popover is open. */
  readonly children: ReactNode;
}

/** A button that looks like a `<select>`, shows the chosen option, and opens the options. */
export function PopoverSelect(props: PopoverSelectProps) {
  const { label, text, placeholder, open, onOpenChange, onBlur, disabled, ref, children } = props;
  const control = useControl(undefined);
  return (
    <PopoverFrame
      look="list"
      label={label}
      open={open}
      onOpenChange={(next) => onOpenChange(next && !control["aria-disabled"])}
      trigger={
        <button
          {...control}
          ref={ref}
          type="button"
          // With only the label as accessible name, screen readers would not read the value.
          aria-label={`${label}: ${text === "" ? "not chosen" : text}`}
          disabled={disabled}
          onBlur={onBlur}
          className={`${controlLook} relative flex h-control items-center pr-8 pl-2 text-left`}
        >
          <span dir="auto" className="truncate">
            {text === "" ? placeholder : text}
          </span>
          <span className="absolute right-2 inline-flex text-ink-3">
            <ChevronDown aria-hidden />
          </span>
        </button>
      }
    >
      {children}
    </PopoverFrame>
  );
}
