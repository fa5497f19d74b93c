import { createContext, type MouseEvent, useContext } from "react";

/**
 * True while the form around a control waits for the response to its request. Controls then take no
 * changes: they would not be part of the request, and would be lost when the form closes. They keep
 * the focus, so they are read-only or `aria-disabled`, and not `disabled`.
 */
export const FormPendingContext = createContext(false);

/** Returns whether the form around the calling component waits for the response to its request. */
export const useFormPending = () => useContext(FormPendingContext);

const locked = {
  "aria-disabled": true,
  // Stops the click before React sees it. React would count the state that the browser takes back
  // as the present one, and would ignore the next click.
  onClickCapture: (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
  },
} as const;

/** Returns the attributes that keep the state of a checkbox or radio button during a request. */
export const useFormPendingLock = () => (useFormPending() ? locked : undefined);
