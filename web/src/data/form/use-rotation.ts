import { BeckonError, newIdempotencyKey } from "@beckon/client";
import { useEffect, useRef, useState } from "react";
import { storedAttempt } from "../idempotency-key.ts";
import { useMe } from "../me.ts";

interface Attempt<Choice> {
  readonly key: string;
  readonly choice: Choice;
}

/**
 * Returns `send`, which replaces a secret once only, even if the response is lost. The server keeps
 * one previous secret, so a second replacement would end the secret in use, whatever grace period
 * was chosen. Until the outcome is known, this tab keeps the Idempotency-Key and the choice.
 * @param action what is done with which resource: `rotate.key_1`
 * @param changed called if the secret was or may be replaced, to refetch what shows its state
 */
export function useRotation<Choice>(action: string, changed?: () => unknown) {
  const stored = storedAttempt(useMe().id, action);
  const read = (): Attempt<Choice> | undefined => {
    const text = stored.read();
    return text === undefined ? undefined : JSON.parse(text);
  };
  const [unknown, setUnknown] = useState(() => read()?.choice);
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  /** Makes the next call a new attempt. Call it when the person was shown the current secret. */
  const release = () => {
    stored.release();
    setUnknown(undefined);
  };
  return {
    /**
     * The choice of an attempt whose outcome is not known. It cannot be changed: the server rejects
     * the Idempotency-Key with another body.
     */
    unknown,
    release,
    /**
     * @param choice what must be the same in a repeat; no secret, because it is stored
     * @throws BeckonError
     */
    send: async <Result>(
      choice: Choice,
      call: (options: { readonly idempotencyKey: string }) => Promise<Result>,
    ): Promise<Result> => {
      const earlier = read();
      const attempt = earlier ?? { key: newIdempotencyKey(), choice };
      // Written before the response, because the page can be reloaded while it waits.
      stored.write(JSON.stringify(attempt));
      try {
        const result = await call({ idempotencyKey: attempt.key });
        // If the page was left meanwhile, the secret is not shown. A repeat then returns it again.
        if (isMounted.current) release();
        void changed?.();
        return result;
      } catch (thrown) {
        const isUnknown = mayBeExecuted(thrown, earlier !== undefined);
        if (isUnknown) setUnknown(attempt.choice);
        else release();
        if (isUnknown || earlier !== undefined) void changed?.();
        throw thrown;
      }
    },
  };
}

/**
 * Returns whether the server may have executed the call, or an earlier one with the same key if
 * `isRepeat` is true. Before it looks for an earlier one, it checks the credential and its load.
 */
function mayBeExecuted(thrown: unknown, isRepeat: boolean): boolean {
  if (!(thrown instanceof BeckonError)) return isRepeat;
  const { idempotencyKey, code, status = 0 } = thrown;
  return (
    idempotencyKey !== undefined ||
    (isRepeat && (code === "unexpected_answer" || [401, 403, 429].includes(status)))
  );
}
