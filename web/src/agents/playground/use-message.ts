import { newIdempotencyKey } from "@beckon/client";
import { useEffect, useRef, useState } from "react";
import { keep, keptKey, keyOfBody, readKept, useMe } from "../../data/index.ts";

/** A message that is not sent yet, or whose run has no turn yet. */
interface Unsent {
  readonly message: string;
  /** Id of the earlier run; undefined for none. */
  readonly run?: string | undefined;
  /** True once the input of the earlier run was filled in, or the field had other text. */
  readonly isFilledIn?: boolean;
  /** Random part of the Idempotency-Key for this message; undefined before the first start. */
  readonly attempt?: string | undefined;
}

/**
 * Returns the message that the person types and the earlier run, with the functions that change
 * them. This tab keeps both while another screen is open, over a reload, and if the session
 * expires.
 * @param opened id of the earlier run in the URL. If it differs from the kept run, the kept message
 *   is discarded. Undefined if the URL has none; the kept run stays.
 */
export function useMessage(agentId: string, opened: string | undefined) {
  const key = keptKey("message", useMe().id, agentId);
  const [unsent, setUnsent] = useState((): Unsent => {
    const kept: Unsent = JSON.parse(readKept(key) ?? '{"message":""}');
    return opened === undefined || opened === kept.run ? kept : { message: "", run: opened };
  });
  // A ref, because Run can be pressed twice before the next rendering.
  const attempt = useRef(unsent.attempt);
  useEffect(() => {
    keep(key, JSON.stringify(unsent));
  }, [key, unsent]);
  return {
    message: unsent.message,
    run: opened ?? unsent.run,
    setMessage: (message: string) => setUnsent((now) => ({ ...now, message })),
    /** Fills in the input of the earlier run the first time, unless the field has other text. */
    fillIn: (input: string) =>
      setUnsent((now) =>
        now.isFilledIn ? now : { ...now, message: now.message || input, isFilledIn: true },
      ),
    forgetRun: () => setUnsent((now) => ({ message: now.message, attempt: now.attempt })),
    /**
     * Returns the Idempotency-Key of a start. It stays the same for the same body until `clear` is
     * called, also after a reload. So if the response to a start was lost, or came while another
     * screen was open, the next start returns the same run and starts no second one.
     */
    startKeyOf(body: unknown): string {
      const tried = attempt.current ?? newIdempotencyKey();
      attempt.current = tried;
      setUnsent((now) => ({ ...now, attempt: tried }));
      return keyOfBody(tried, body);
    },
    /**
     * Clears the message after its run was started. If the text was edited while the run was
     * starting, it is the next message and stays.
     */
    clear(sent: string) {
      attempt.current = undefined;
      setUnsent((now) => ({
        ...now,
        message: now.message === sent ? "" : now.message,
        attempt: undefined,
      }));
    },
  };
}
