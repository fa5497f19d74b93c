import { explainStart } from "./error.ts";
import type { FireTriggerAnswer } from "./generated/schemas.ts";
import { type LabelOptions, type OnceOptions, rejectUserinfo } from "./options.ts";
import type { Sender } from "./sender.ts";

/** The run that a fire started, or the information that it started none. */
export interface FiredRun {
  /** Id of the run; empty if the fire was skipped. */
  readonly run_id: string;
  /**
   * `true` if the trigger accepted the request and its settings say that it starts no run: the
   * filter is false, the request was stored as a sample (`triggers.listen`), the field
   * `form.honeypot` has a value, or the trigger is disabled and `when_disabled` is `swallow`.
   * Absent if there is a run.
   */
  readonly skipped?: true;
}

/**
 * Returns whether the content of the payload would be lost as JSON, for example that of bytes, a
 * promise or a stream of Node.js. An instance of a class can become `{}`, such as an iterator, a
 * `Request` or the `FormData` of a library.
 */
function isLostAsJson(payload: unknown): boolean {
  if (typeof payload !== "object" || payload === null) return typeof payload === "function";
  if (payload instanceof Blob || payload instanceof FormData) return false;
  const prototype = Object.getPrototypeOf(payload);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return (
    ArrayBuffer.isView(payload) ||
    Symbol.asyncIterator in payload ||
    ["pipe", "then"].some((method) => typeof Reflect.get(payload, method) === "function") ||
    (!isPlain && JSON.stringify(payload) === "{}")
  );
}

/**
 * Fires a trigger by URL or token and resolves as soon as the run is durable.
 * @param payload a string is sent as text, a `Blob` unchanged with its own media type, a `FormData`
 *   as multipart form, all else as JSON; can be omitted if the trigger has a prompt prefix
 * @throws TypeError if `urlOrToken` is neither a trigger's URL nor a token, or if the payload is
 *   an object whose content would be lost as JSON: bytes, a `URLSearchParams`, a stream, a promise,
 *   or an instance of a class that becomes `{}`, for example a `Map`, a `Request` or an `Error`;
 *   BeckonError if the call fails
 */
export async function fire(
  send: Sender,
  urlOrToken: string,
  payload?: unknown,
  options?: OnceOptions & LabelOptions,
): Promise<FiredRun> {
  if (isLostAsJson(payload))
    throw new TypeError(
      "fire: the payload must be a string, a Blob, a FormData, or data for JSON. Await a promise. " +
        "Send others as a Blob: new Blob([bytes], { type })",
    );
  const form = payload instanceof FormData ? await encodeForm(payload) : undefined;
  const call = {
    method: "POST",
    path: "/triggers/{token}",
    ...parseTarget(urlOrToken),
    body: form?.bytes ?? payload,
    bodyType: form?.type ?? ((payload instanceof Blob && payload.type) || "text/plain"),
    once: true,
    labelled: true,
    open: true,
  };
  const response = await send.whole<FireTriggerAnswer>(call, options).catch((thrown) => {
    throw explainStart(thrown);
  });
  return "skipped" in response ? { run_id: "", skipped: true } : { run_id: response.run_id };
}

/**
 * Encodes a form once, so that all attempts have the same boundary. The media type is returned
 * separately, because that of a `Blob` is in lower case and a boundary can have capital letters.
 */
async function encodeForm(form: FormData): Promise<{ bytes: Blob; type: string }> {
  const encoded = new Response(form);
  return { bytes: await encoded.blob(), type: encoded.headers.get("content-type") ?? "" };
}

/**
 * Returns the trigger's token. For a trigger's URL, also returns the server in that URL, to which
 * the request is then sent instead of the client's server.
 */
function parseTarget(urlOrToken: string): {
  readonly url?: string;
  readonly params: readonly string[];
} {
  const [, url, token] =
    /^(https?:\/\/.+)\/api\/public\/triggers\/([\w-]+)\/?$/.exec(urlOrToken) ?? [];
  if (url !== undefined && token !== undefined && URL.canParse(url)) {
    rejectUserinfo(url, "fire: the trigger's URL");
    return { url, params: [token] };
  }
  if (/^[\w-]+$/.test(urlOrToken)) return { params: [urlOrToken] };
  throw new TypeError("fire: the first argument must be a trigger's URL or token");
}
