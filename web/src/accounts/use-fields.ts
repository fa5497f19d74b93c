import { type ChangeEvent, type FocusEvent, type FormEvent, useRef, useState } from "react";

/** Returns what is wrong with a value and what to do, or undefined. */
export type Check = (value: string) => string | undefined;

/**
 * State of a small form of texts. A field is checked when it is left and when the form is sent;
 * the first field with an error then gets the focus.
 * @param initial the fields and their first values
 */
export function useFields<Name extends string>(
  initial: Readonly<Record<Name, string>>,
  checks: Readonly<Partial<Record<Name, Check>>>,
) {
  const names = Object.keys(initial) as Name[];
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState({} as Readonly<Partial<Record<Name, string>>>);
  const errorOf = (name: Name, value: string) => checks[name]?.(value);
  return {
    values,
    errors,
    form,
    focus: (name: Name) =>
      form.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus(),
    setValue: (name: Name, value: string) => setValues((before) => ({ ...before, [name]: value })),
    /** Returns the properties of a field's input. */
    input: (name: Name) => ({
      name,
      value: values[name],
      onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
        setValues((before) => ({ ...before, [name]: target.value }));
        // An error goes as soon as it is corrected, and comes only when the field is left.
        if (errors[name] !== undefined)
          setErrors((before) => without(before, name, errorOf(name, target.value)));
      },
      onBlur: ({ target }: FocusEvent<HTMLInputElement>) => {
        // A field that was only passed through says nothing.
        if (target.value !== "")
          setErrors((before) => without(before, name, errorOf(name, target.value)));
      },
    }),
    /** Returns the handler of the form, which calls `send` if all fields are right. */
    submit: (send: () => void) => (event: FormEvent) => {
      event.preventDefault();
      const wrong = names.filter((name) => errorOf(name, values[name]) !== undefined);
      setErrors(
        Object.fromEntries(wrong.map((name) => [name, errorOf(name, values[name])])) as Partial<
          Record<Name, string>
        >,
      );
      const [first] = wrong;
      if (first === undefined) send();
      else form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    },
  };
}

function without<Name extends string>(
  errors: Readonly<Partial<Record<Name, string>>>,
  name: Name,
  error: string | undefined,
): Partial<Record<Name, string>> {
  const { [name]: _, ...others } = errors;
  return (error === undefined ? others : { ...others, [name]: error }) as Partial<
    Record<Name, string>
  >;
}
