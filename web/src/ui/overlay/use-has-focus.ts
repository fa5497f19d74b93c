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
      // If the person leaves the window, the button has the focus again when they return.
      setHasFocus(document.activeElement === event.currentTarget);
    },
  };
  return [hasFocus, handlers] as const;
}
