import { createSubscribers } from "../../subscribers.ts";

/** A short message about something that has happened. */
export interface ToastMessage {
  readonly tone?: "info" | "success" | "warning" | "failure" | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  /** A button in the message, for example Undo. Default: none. */
  readonly action?: { readonly label: string; readonly onPress: () => void } | undefined;
}

/** A message that is on the page. */
export interface ShownToast extends ToastMessage {
  readonly id: number;
}

/** Maximum number of toasts on the page. Older ones are removed. */
const maxToasts = 3;

let toasts: readonly ShownToast[] = [];
let lastId = 0;
/** Number of calls of `clearToasts`. */
let clearings = 0;
const { subscribe, notify } = createSubscribers();

function change(next: readonly ShownToast[]): void {
  toasts = next;
  notify();
}

/** Calls the function when the toasts have changed. */
export const subscribeToToasts = subscribe;

/** Returns the toasts on the page, the newest last. */
export const shownToasts = (): readonly ShownToast[] => toasts;

/** Returns how often the toasts were cleared. */
export const clearingsSoFar = (): number => clearings;

/**
 * Shows a toast, unless the toasts were cleared since the component that shows it was mounted.
 * @param mounted what `clearingsSoFar` returned when the component was mounted
 */
export function showToast(message: ToastMessage, mounted: number): void {
  if (mounted !== clearings) return;
  lastId += 1;
  change([...toasts.slice(1 - maxToasts), { ...message, id: lastId }]);
}

/** Removes a toast. */
export function removeToast(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

/**
 * Removes all toasts, because the session has ended: the next person must neither see them nor use
 * their buttons. Components that are mounted now can show no toasts any more.
 */
export function clearToasts(): void {
  clearings += 1;
  change([]);
}
