import { createSubscribers } from "./subscribers.ts";

/** A part of the page whose code is needed and could not be loaded. */
export interface MissingPart {
  /** Tries to load the code again. */
  readonly retry: () => void;
  /** Closes the part if it can be closed, for example a dialog. */
  readonly close: () => void;
}

let parts: readonly MissingPart[] = [];
const { subscribe, notify } = createSubscribers();

function change(next: readonly MissingPart[]): void {
  parts = next;
  notify();
}

/** Calls the function when the parts have changed. */
export const subscribeToMissing = subscribe;

/** Returns the parts that are missing now. */
export const missingParts = (): readonly MissingPart[] => parts;

/** Adds a part. @returns the function that removes it */
export function addMissing(part: MissingPart): () => void {
  change([...parts, part]);
  return () => change(parts.filter((each) => each !== part));
}

/** Closes and removes all missing parts. */
export function closeMissing(): void {
  const closed = parts;
  change([]);
  for (const { close } of closed) close();
}
