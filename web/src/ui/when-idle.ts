/**
 * Calls the function when the page is idle, so that the first paint takes precedence.
 * @param maxWaitMs after this time the function is called even if the page is busy
 * @returns the function that cancels the call
 */
export function whenIdle(act: () => void, maxWaitMs: number): () => void {
  // Safari has no `requestIdleCallback`.
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(act, 50);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(act, { timeout: maxWaitMs });
  return () => cancelIdleCallback(handle);
}
