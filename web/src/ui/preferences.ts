const subscribers = new Set<() => void>();

/** Calls the function after each change of what this browser remembers. Returns how to stop. */
export function onPreference(notify: () => void): () => void {
  subscribers.add(notify);
  return () => subscribers.delete(notify);
}

/** Notifies all that show a preference that it has changed. */
export function notifyPreference(): void {
  for (const notify of subscribers) notify();
}
