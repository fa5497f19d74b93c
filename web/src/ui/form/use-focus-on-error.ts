import { useEffect, useRef } from "react";

/**
 * Returns the ref of a group of checkboxes whose first one gets the focus when the form was sent
 * with an error of the group. For single controls React Hook Form does that itself.
 * @param submitCount how often the form was sent
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
