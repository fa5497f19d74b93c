import type { FireTriggerAnswer } from "./generated/schemas.ts";
import type { OnceOptions } from "./options.ts";
import type { Sender } from "./sender.ts";

/**
 * Fires a trigger, by its URL or its token: resolves as soon as the run is durable. A string is sent as text, anything else as JSON;
 * undefined, if the trigger has a prefix, as nothing.
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
      ...placeOf(urlOrToken),
      body: payload,
      bodyType: "text/plain",
      once: true,
      open: true,
    },
    options,
  );
  return { run_id };
}

/** A URL leads to its own Beckon, whatever the client's is. */
function placeOf(urlOrToken: string): {
  readonly url?: string;
  readonly params: readonly string[];
} {
  const [, url, token] =
    /^(https?:\/\/.+)\/api\/public\/triggers\/([\w-]+)\/?$/.exec(urlOrToken) ?? [];
  if (url !== undefined && token !== undefined) return { url, params: [token] };
  if (/^[\w-]+$/.test(urlOrToken)) return { params: [urlOrToken] };
  throw new TypeError("fire: the first value must be a trigger's URL or its token");
}
