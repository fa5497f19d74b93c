import { Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { IconButton } from "../../action/icon-button.tsx";
import { isSingleKey } from "../../single-keys.ts";
import { Kbd } from "../../text/kbd.tsx";
import { useMedia } from "../../use-media.ts";
import { TextInput } from "../text-input.tsx";
import { useEscape } from "../use-escape.ts";

interface SearchFieldProps {
  /** Accessible name: "Search runs". */
  readonly label: string;
  readonly placeholder?: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Called when Enter is pressed. Default: no call. */
  readonly onSubmit?: ((value: string) => void) | undefined;
  /** True if the key `/` focuses this field. A screen can have only one such field. */
  readonly slash?: boolean;
}

/**
 * A search field. Esc clears it. In an empty field, Esc removes the focus, and closes a dialog or
 * popover around the field.
 */
export function SearchField({
  label,
  placeholder,
  value,
  onChange,
  onSubmit,
  slash = false,
}: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  // The field shows the key `/` at its end, but not on a phone: a phone has no such key, and the
  // placeholder needs the space.
  const showsSlash = !useMedia("(pointer: coarse)") && slash;
  useEffect(() => {
    if (!slash) return;
    const focus = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "/" || !isSingleKey(event)) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, [slash]);
  useEscape(input, value === "" ? undefined : () => onChange(""));
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      // Otherwise Enter would submit a form around the field.
      event.preventDefault();
      onSubmit?.(value);
    }
    if (event.key === "Escape") input.current?.blur();
  };
  const clear = () => {
    onChange("");
    input.current?.focus();
  };
  return (
    <search className="flex min-w-0 flex-1">
      <TextInput
        ref={input}
        icon={Search}
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={press}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        suffix={
          value !== "" ? (
            <IconButton
              icon={X}
              label="Clear search"
              size="small"
              onClick={clear}
              tooltip={false}
            />
          ) : showsSlash ? (
            <span className="pr-1">
              <Kbd>/</Kbd>
            </span>
          ) : undefined
        }
      />
    </search>
  );
}
