import { useEffect, useRef } from "react";

/**
 * Returns the ref for a group of checkboxes. The first checkbox is focused when the form is
 * submitted while the group has an error, and when the server's response has an error for it. React
 * Hook Form does this itself only for single controls.
 * @param submitCount number of times that the form was submitted. Pass 0 while a field above the
 *   group has an error, because that field gets the focus.
 */
export function useFocusOnError(error: string | undefined, submitCount: number) {
  const group = useRef<HTMLFieldSetElement>(null);
  const isWrong = error !== undefined;
  const before = useRef({ isWrong, submitCount });
  useEffect(() => {
    const last = before.current;
    before.current = { isWrong, submitCount };
    if (!isWrong || submitCount === 0) return;
    const isNew = !last.isWrong;
    // `submitCount` also rises from 0 without a submission, when the field above the group becomes
    // valid while the person types in it. The error of the group is not new in that case.
    const isSubmitted = submitCount > last.submitCount && (isNew || last.submitCount > 0);
    const isInField = document.activeElement?.matches("input, textarea, select") === true;
    if (isSubmitted || (isNew && !isInField))
      group.current?.querySelector<HTMLInputElement>("input[type=checkbox]:enabled")?.focus();
  }, [isWrong, submitCount]);
  return group;
}
