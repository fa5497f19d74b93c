/**
 * Calls the function when the page has nothing else to do, so that the first paint comes first.
 * @param maxWaitMs a busy page does not hold it up for longer
 * @returns the function that cancels it
 */
export function whenIdle(act: () => void, maxWaitMs: number): () => void {
  // Safari has no idle callbacks.
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(act, 50);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(act, { timeout: maxWaitMs });
  return () => cancelIdleCallback(handle);
}
