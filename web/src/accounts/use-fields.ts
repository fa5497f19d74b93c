import { type ChangeEvent, type FocusEvent, type FormEvent, useRef, useState } from "react";

/** Returns what is wrong with a value and what to do; undefined if the value is valid. */
export type Check = (value: string) => string | undefined;

/**
 * Returns the state of a small form with text fields. A field that is not empty is checked when it
 * loses the focus. All fields are checked when the form is submitted: then the first field with an
 * error gets the focus.
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
        // While the person types, an error only disappears. New errors are shown when the field
        // loses the focus.
        if (errors[name] !== undefined)
          setErrors((before) => without(before, name, errorOf(name, target.value)));
      },
      onBlur: ({ target }: FocusEvent<HTMLInputElement>) => {
        // A field that is left empty, for example with the Tab key, is not checked here.
        if (target.value !== "")
          setErrors((before) => without(before, name, errorOf(name, target.value)));
      },
    }),
    /** Returns the form's submit handler. It calls `send` if all fields are valid. */
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
