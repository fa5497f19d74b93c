import { BeckonError, newIdempotencyKey } from "@beckon/client";
import { useEffect, useRef, useState } from "react";
import { storedAttempt } from "../idempotency-key.ts";
import { useMe } from "../me.ts";
import { serverNow } from "../server-time.ts";

interface Attempt<Choice> {
  readonly key: string;
  readonly choice: Choice;
  /**
   * When it was first sent, as Unix time in ms by the server's clock. Absent if an earlier version
   * of this page has stored the attempt.
   */
  readonly at?: number;
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
     * @returns the result, and when the call was first sent. A grace period begins then or, if
     *   that attempt was lost before it reached the server, later.
     * @throws BeckonError
     */
    send: async <Result extends object>(
      choice: Choice,
      call: (options: { readonly idempotencyKey: string }) => Promise<Result>,
    ): Promise<Result & { readonly sentAt: number | undefined }> => {
      const earlier = read();
      const attempt = earlier ?? { key: newIdempotencyKey(), choice, at: serverNow() };
      // Written before the response, because the page can be reloaded while it waits.
      stored.write(JSON.stringify(attempt));
      try {
        const result = await call({ idempotencyKey: attempt.key });
        // If the page was left meanwhile, the secret is not shown. A repeat then returns it again.
        if (isMounted.current) release();
        void changed?.();
        return { ...result, sentAt: attempt.at };
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
 * Returns when a grace period ends, in Unix ms; undefined if it has ended, or if its start is not
 * known.
 * @param sentAt its start in Unix ms, as `send` returns it
 */
export function graceEnd(sentAt: number | undefined, graceSeconds: number): number | undefined {
  if (sentAt === undefined) return undefined;
  const end = sentAt + graceSeconds * 1_000;
  return end > serverNow() ? end : undefined;
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
