import type { Result } from "../../base/errors.ts";
import type { RunCallback, RunLabels, StartRequest } from "../../runs/index.ts";
import { bindKey } from "./idempotency-key.ts";

/** What the headers of a request to start a run say, or the errors in them. */
interface StartHeaders {
  readonly key: Result<string> | undefined;
  readonly labels: Result<RunLabels | undefined>;
  readonly callback: Result<RunCallback | undefined>;
}

/**
 * Returns the content of a request to start a run. The Idempotency-Key is bound to a hash of body,
 * labels and callback. Invalid headers cannot be hashed, so their error takes the place of the
 * payload and of the binding, as `bindKey` does for an unreadable body.
 * @param body.payload called only if the headers are valid
 * @param body.bytes returns the bytes that are hashed; called only if there is a key, too
 */
export function startContent(
  { key, labels, callback }: StartHeaders,
  body: { readonly payload: () => Result<string>; readonly bytes: () => Result<Buffer> },
): Pick<StartRequest, "labels" | "callback" | "payload" | "idempotency"> {
  if (!labels.ok) return { payload: labels, idempotency: key && labels };
  if (!callback.ok) return { payload: callback, idempotency: key && callback };
  const hashed = { labels: labels.value, callback: callback.value };
  const idempotency = key && bindKey(key, body.bytes(), hashed);
  return { ...hashed, payload: body.payload(), idempotency };
}
