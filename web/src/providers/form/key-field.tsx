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

/** The key of a provider. It can be entered and never read. */
export function KeyField({ error, hint, optional, input, ...rest }: KeyFieldProps) {
  return (
    <Field label="API key" optional={optional} error={messageOf(error)} hint={hint}>
      {/* Not a password of this site, which a browser would offer to fill in or to save. */}
      <PasswordInput {...input} {...rest} mono autoComplete="new-password" />
    </Field>
  );
}
