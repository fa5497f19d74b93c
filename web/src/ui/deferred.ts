import { useEffect, useEffectEvent, useState } from "react";
import { addMissing } from "./missing-parts.ts";
import { whenIdle } from "./when-idle.ts";

/** Code that is not needed for the first paint. */
export interface Deferred<Value> {
  /** The code; undefined until it is loaded. */
  value: Value | undefined;
  readonly load: () => Promise<Value>;
}

/**
 * Maximum delay before code is loaded that may never be needed. It is loaded as soon as the page is
 * idle, or after this time even if the page is busy.
 */
const maxWaitMs = 2_500;

/** Creates the state for {@link useDeferred}. Nothing is loaded yet. */
export function createDeferred<Value>(load: () => Promise<Value>): Deferred<Value> {
  return { value: undefined, load };
}

/**
 * Returns code that is loaded once the page has been painted; undefined until then. React's `lazy`
 * is not used: it never repeats an import that has failed, and if a button is pressed before the
 * code has arrived, React would show the fallback for at least 300 ms, even if the code arrives
 * sooner.
 * @param isNeeded true loads the code at once, also if an earlier attempt to load it has failed. If
 *   that fails too, `MissingNotice` says so and offers another attempt.
 * @param close closes what needs the code. Default: it cannot be closed.
 */
export function useDeferred<Value>(
  deferred: Deferred<Value>,
  isNeeded: boolean,
  close?: () => void,
): Value | undefined {
  const [loaded, setLoaded] = useState<{ readonly value: Value }>();
  const [attempt, setAttempt] = useState(0);
  const [failedAttempt, setFailedAttempt] = useState<number>();
  const value = loaded?.value ?? deferred.value;
  const isMissing = value === undefined;
  useEffect(() => {
    if (!isMissing) return;
    const load = () =>
      void deferred.load().then(
        (found) => {
          deferred.value = found;
          setLoaded({ value: found });
        },
        () => {
          if (isNeeded) setFailedAttempt(attempt);
        },
      );
    return isNeeded ? load() : whenIdle(load, maxWaitMs);
  }, [deferred, isMissing, isNeeded, attempt]);
  const closeNow = useEffectEvent(() => close?.());
  const isFailed = isMissing && isNeeded && failedAttempt === attempt;
  useEffect(() => {
    if (!isFailed) return;
    return addMissing({
      retry: () => setAttempt((last) => last + 1),
      close: () => closeNow(),
    });
  }, [isFailed]);
  return value;
}
