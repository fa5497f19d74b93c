const subscribers = new Set<() => void>();

/**
 * Calls the function after each change of a preference by this tab. A change by another tab of the
 * browser is read when the page is loaded again. Returns a function that unsubscribes `notify`.
 */
export function onPreference(notify: () => void): () => void {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Notifies all subscribers of this tab that a preference has changed. */
export function notifyPreference(): void {
  for (const notify of subscribers) notify();
}
