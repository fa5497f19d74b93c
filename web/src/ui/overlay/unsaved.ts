import { useEffect, useRef } from "react";
import { createSubscribers } from "../subscribers.ts";

const forms = new Set<() => boolean>();
const { subscribe, notify } = createSubscribers();

/**
 * Makes `hasUnsavedChanges` ask a form as long as it is mounted.
 * @param isDirty returns whether the form has changes that would be lost
 */
export function useUnsaved(isDirty: () => boolean): void {
  const latest = useRef(isDirty);
  useEffect(() => {
    latest.current = isDirty;
    notify();
  });
  useEffect(() => {
    const form = () => latest.current();
    forms.add(form);
    return () => {
      forms.delete(form);
      notify();
    };
  }, []);
}

/** Returns whether any form on the page has changes that would be lost. */
export function hasUnsavedChanges(): boolean {
  return [...forms].some((isDirty) => isDirty());
}

/** Calls the function when the result of `hasUnsavedChanges` can have changed. */
export const subscribeToUnsaved = subscribe;
