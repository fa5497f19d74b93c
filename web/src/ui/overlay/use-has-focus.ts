import { type ComponentProps, type FocusEvent, type ReactElement, useState } from "react";

type Button = ReactElement<ComponentProps<"button">>;

/**
 * Returns whether a button has the focus, and the handlers that the button needs for this. They
 * also call the button's own handlers.
 */
export function useHasFocus({ props }: Button) {
  const [hasFocus, setHasFocus] = useState(false);
  const handlers = {
    onFocus: (event: FocusEvent<HTMLButtonElement>) => {
      props.onFocus?.(event);
      setHasFocus(true);
    },
    onBlur: (event: FocusEvent<HTMLButtonElement>) => {
      props.onBlur?.(event);
      // If the whole window loses the focus, the button stays the active element: it has the focus
      // again when the person returns.
      setHasFocus(document.activeElement === event.currentTarget);
    },
  };
  return [hasFocus, handlers] as const;
}
