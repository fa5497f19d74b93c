import { ApiError } from "../../base/errors.ts";
import { answerHandshake, isAllowedAddress } from "../../receiving/index.ts";
import type { TriggerOfToken } from "../../triggers/index.ts";
import { addressOf, headerOf, type RequestContext } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * Answers a GET or OPTIONS by which a sender asks whether the trigger's owner wants its events.
 * @param readTrigger reads the trigger as it is stored now.
 * @returns undefined if the request is no handshake, if the trigger does not answer it, or if the
 *   token is not valid. The response must then not reveal whether the token is valid.
 * @throws the errors of `readTrigger` except ApiError `unauthorized`
 */
export async function answerTriggerHandshake(
  services: Pick<Services, "publicUrl" | "trustedProxies">,
  { env: { incoming }, req: { method } }: RequestContext,
  readTrigger: () => Promise<TriggerOfToken>,
): Promise<Response | undefined> {
  // Requests that cannot be a handshake cause no database query.
  const canBeHandshake =
    method === "OPTIONS"
      ? headerOf(incoming, "webhook-request-origin") !== undefined
      : method === "GET" && incoming.url?.includes("challenge=") === true;
  if (!canBeHandshake) return undefined;
  const settings = await settingsOf(readTrigger);
  if (settings === undefined) return undefined;
  if (!isAllowedAddress(settings.receiving, addressOf(incoming, services.trustedProxies)))
    return undefined;
  const answer = answerHandshake(settings.receiving, settings, {
    method,
    url: `${services.publicUrl()}${incoming.url ?? ""}`,
    headers: incoming.headers,
    body: Buffer.alloc(0),
    receivedAtMs: Date.now(),
  });
  return answer && new Response(answer.body, { status: answer.status, headers: answer.headers });
}

async function settingsOf(readTrigger: () => Promise<TriggerOfToken>) {
  try {
    return (await readTrigger()).settings;
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === "unauthorized") return undefined;
    throw thrown;
  }
}
