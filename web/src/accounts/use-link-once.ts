import { useRef } from "react";
import { isOutcomeUnknown, isUnauthorized } from "../data/index.ts";

/**
 * Returns a function that makes the call of a one-time link. It also resolves if the call may have
 * succeeded. That is so if the response was lost, or if the link is no longer valid and an earlier
 * attempt may have used it. The caller then signs in, which fails if the call had no effect.
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
