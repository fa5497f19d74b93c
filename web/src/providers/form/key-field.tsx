import type { ReactNode } from "react";
import type { FieldError, UseFormRegisterReturn } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { Field, PasswordInput } from "../../ui/index.ts";

interface KeyFieldProps {
  readonly error: FieldError | undefined;
  readonly hint: ReactNode;
  readonly optional?: boolean;
  readonly placeholder?: string | undefined;
  readonly disabled?: boolean;
  readonly autoFocus?: boolean;
  readonly input: UseFormRegisterReturn;
}

/** The field for the key of a provider. The key can be entered, but never read. */
export function KeyField({ error, hint, optional, input, ...rest }: KeyFieldProps) {
  return (
    <Field label="API key" optional={optional} error={messageOf(error)} hint={hint}>
      {/* With `new-password`, browsers do not fill in a password of this site. */}
      <PasswordInput {...input} {...rest} mono autoComplete="new-password" />
    </Field>
  );
}
