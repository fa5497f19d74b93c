const subscribers = new Set<() => void>();

/**
 * Calls the function after each change of a preference in this browser. Returns a function that
 * unsubscribes it.
 */
export function onPreference(notify: () => void): () => void {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Notifies all subscribers that a preference has changed. */
export function notifyPreference(): void {
  for (const notify of subscribers) notify();
}
