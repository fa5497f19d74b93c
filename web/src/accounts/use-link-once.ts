import { useRef } from "react";
import { isOutcomeUnknown, isUnauthorized } from "../data/index.ts";

/**
 * Returns a function that makes the call of a one-time link, then signs in. It also signs in if the
 * call may have succeeded. That is so if the response was lost, or if the link is no longer valid
 * and an earlier attempt may have used it. The sign-in fails if the call had no effect.
 * @throws BeckonError the error of the call if it had no effect; else that of the sign-in
 */
export function useLinkOnce() {
  const mayBeUsed = useRef(false);
  return async (call: () => Promise<unknown>, signIn: () => Promise<void>): Promise<void> => {
    let failed: unknown;
    try {
      await call();
    } catch (thrown) {
      const isUsed = mayBeUsed.current && isUnauthorized(thrown);
      if (!isUsed && !isOutcomeUnknown(thrown)) throw thrown;
      failed = thrown;
    }
    mayBeUsed.current = true;
    try {
      await signIn();
    } catch (thrown) {
      // The call had no effect, so the error of the sign-in would call a right password wrong.
      if (failed !== undefined && isUnauthorized(thrown)) throw failed;
      throw thrown;
    }
  };
}
