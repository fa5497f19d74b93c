import { createContext, useContext } from "react";
import { useFormPending } from "./form-pending.ts";

/** The properties that a control gets from the field around it. */
export interface FieldState {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

/** Set by Field, read by every control. */
export const FieldContext = createContext<FieldState | undefined>(undefined);

/**
 * Returns the attributes that connect a control to its label, hint and error, and `aria-disabled`
 * while the form is sent.
 */
export function useControl(id: string | undefined) {
  const field = useContext(FieldContext);
  return {
    id: id ?? field?.id,
    "aria-describedby": field?.describedBy,
    "aria-invalid": field?.invalid || undefined,
    "aria-disabled": useFormPending() || undefined,
  };
}
