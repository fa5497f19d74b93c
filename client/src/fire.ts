import type { FireTriggerAnswer } from "./generated/schemas.ts";
import type { LabelOptions, OnceOptions } from "./options.ts";
import type { Sender } from "./sender.ts";

/**
 * Fires a trigger by URL or token and resolves as soon as the run is durable.
 * @param payload sent as text if it is a string, else as JSON; can be omitted if the trigger has a
 *   prompt prefix
 */
export async function fire(
  send: Sender,
  urlOrToken: string,
  payload?: unknown,
  options?: OnceOptions & LabelOptions,
): Promise<{ run_id: string }> {
  const { run_id } = await send.whole<FireTriggerAnswer>(
    {
      method: "POST",
      path: "/triggers/{token}",
      ...parseTarget(urlOrToken),
      body: payload,
      bodyType: "text/plain",
      once: true,
      labelled: true,
      open: true,
    },
    options,
  );
  return { run_id };
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
  if (url !== undefined && token !== undefined) return { url, params: [token] };
  if (/^[\w-]+$/.test(urlOrToken)) return { params: [urlOrToken] };
  throw new TypeError("fire: the first argument must be a trigger's URL or token");
}
