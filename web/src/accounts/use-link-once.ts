import { useRef } from "react";
import { isOutcomeUnknown, isUnauthorized } from "../data/index.ts";

/**
 * Returns a function that makes the call of a one-time link. It resolves if the call has succeeded,
 * and also if it may have succeeded: if the response was lost, or if an earlier attempt may have
 * succeeded and the server now says that the link is no longer valid. The caller then continues
 * with the sign-in, which fails if the call had no effect.
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
