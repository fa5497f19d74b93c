import { useEffect, useRef } from "react";

/**
 * Returns the ref for a group of checkboxes. When the form is submitted while the group has an
 * error, its first checkbox is focused. React Hook Form does this itself only for single controls.
 * @param submitCount number of times that the form was submitted
 */
export function useFocusOnError(error: string | undefined, submitCount: number) {
  const group = useRef<HTMLFieldSetElement>(null);
  const isWrong = error !== undefined;
  useEffect(() => {
    if (isWrong && submitCount > 0)
      group.current?.querySelector<HTMLInputElement>("input[type=checkbox]:enabled")?.focus();
  }, [isWrong, submitCount]);
  return group;
}
