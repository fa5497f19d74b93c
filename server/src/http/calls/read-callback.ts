import type { IncomingMessage } from "node:http";
import { receiverUrl } from "@beckon/contract";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import { requirePrintableAscii } from "../../base/parse.ts";
import type { RunCallback } from "../../runs/index.ts";
import { headerOf } from "../request/index.ts";

/** Name of the header that requests a callback. The response to a CORS preflight lists it. */
export const callbackHeader = "beckon-callback";

/**
 * Returns the URL in the header `beckon-callback`, which receives the run's final event in addition
 * to the subscriptions; undefined if the request does not have the header. The statement that
 * starts the run (`start-statement.ts`) checks that a subscription allows the URL.
 */
export function readCallback(incoming: IncomingMessage): Result<RunCallback | undefined> {
  const text = headerOf(incoming, callbackHeader);
  if (text === undefined) return { ok: true, value: undefined };
  return attempt(() => {
    requirePrintableAscii(callbackHeader, text);
    const url = receiverUrl.safeParse(text.trim());
    if (!url.success)
      throw new ApiError(
        "bad_request",
        `${callbackHeader} must be an http or https URL of at most 2000 characters, without user or fragment.`,
      );
    const { href, origin } = new URL(url.data);
    return { url: href, origin };
  });
}
