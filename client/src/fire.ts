import type { FireTriggerAnswer } from "./generated/schemas.ts";
import type { OnceOptions } from "./options.ts";
import type { Sender } from "./sender.ts";

/**
 * Fires a trigger by URL or token and resolves as soon as the run is durable.
 * @param payload a string is sent as text, all else as JSON; optional if the trigger has a prefix
 */
export async function fire(
  send: Sender,
  urlOrToken: string,
  payload?: unknown,
  options?: OnceOptions,
): Promise<{ run_id: string }> {
  const { run_id } = await send.whole<FireTriggerAnswer>(
    {
      method: "POST",
      path: "/triggers/{token}",
      ...parseTarget(urlOrToken),
      body: payload,
      bodyType: "text/plain",
      once: true,
      open: true,
    },
    options,
  );
  return { run_id };
}

/** With a trigger URL, the request goes to that URL's server instead of the client's. */
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
