import { useRef } from "react";
import { isOutcomeUnknown, isUnauthorized } from "../data/index.ts";

/**
 * Returns a function that makes the call for which a one-time link is. It returns normally if the
 * call has succeeded, and also if it may have: if the response was lost now, or if the server says
 * that the link is used up after an earlier attempt that may have succeeded. The caller then goes
 * on, for example with the sign-in, which fails if the call had no effect.
 * @throws BeckonError if the call had no effect
 */
export function useLinkOnce(): (call: () => Promise<unknown>) => Promise<void> {
  const mayBeUsed = useRef(false);
  return async (call) => {
    try {
      await call();
    } catch (thrown) {
      const isUsed = mayBeUsed.current && isUnauthorized(thrown);
      if (!isUsed && !isOutcomeUnknown(thrown)) throw thrown;
    }
    mayBeUsed.current = true;
  };
}
