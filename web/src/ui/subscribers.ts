/**
 * Creates a list of functions to call after each change of a value that React does not know, for
 * `useSyncExternalStore`.
 */
export function createSubscribers() {
  const subscribers = new Set<() => void>();
  return {
    /** Calls the function after each change. Returns a function that ends this. */
    subscribe(changed: () => void): () => void {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
    notify(): void {
      for (const changed of subscribers) changed();
    },
  };
}
