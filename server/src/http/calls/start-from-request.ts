import type { ByteHold } from "../../base/byte-budget.ts";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import {
  type Caller,
  callerId,
  type Started,
  type StartRequest,
  startRun,
} from "../../runs/index.ts";
import { unauthorized } from "../authentication/index.ts";
import { addressOf, bindKey, type RequestContext, readBody } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { AdmittedCredentials } from "./admitted-credentials.ts";

/** What is known of a request to start a run before its body is read. */
export interface StartHead extends Pick<StartRequest, "source" | "agentId" | "output"> {
  /** Undefined: the credential is missing or malformed, and is rejected without a query. */
  readonly caller: Caller | undefined;
  /** The session by which the caller is signed in, with cookies to set in the response. */
  readonly session?: { readonly id: string; readonly cookies: readonly string[] };
  readonly key: Result<string> | undefined;
  /** Returns the payload of the raw body. @throws ApiError */
  readonly payloadOf: (bytes: Buffer) => string;
  readonly contentType: string | undefined;
}

/**
 * Checks the credential, reads the body, and starts the run.
 * @throws ApiError in the order of the contract.
 */
export async function startFromRequest(
  services: Services,
  admitted: AdmittedCredentials,
  c: RequestContext,
  head: StartHead,
): Promise<Started> {
  const { incoming } = c.env;
  const { caller } = head;
  let hold: ByteHold | undefined;
  try {
    if (caller === undefined) throw new ApiError("unauthorized", unauthorizedMessage);
    if (!admitted.has(caller)) {
      await admitted.check({ source: head.source, caller, agentId: head.agentId });
    }
    hold = services.runs.memory.exchanges.hold(callerId(caller));
    return await startRun(services.runs, await readStart(c, { ...head, caller }, hold));
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== "unauthorized") throw thrown;
    if (caller !== undefined) admitted.forget(caller);
    if (head.source === "invoke") throw unauthorized(services, incoming);
    const address = addressOf(incoming, services.trustProxy);
    throw services.failedAuthentications.countFailure(address, thrown.message);
  } finally {
    hold?.release();
  }
}

/** Reads the body. Rejects only if the client goes away before it is complete. */
async function readStart(
  c: RequestContext,
  head: StartHead & { caller: Caller },
  hold: ByteHold,
): Promise<StartRequest> {
  const { source, caller, agentId, contentType = null, output, key, payloadOf } = head;
  const body = await readBody(c.env.incoming, hold);
  const payload = body.ok ? attempt(() => payloadOf(body.value)) : body;
  return { source, caller, agentId, contentType, output, payload, idempotency: bindKey(key, body) };
}
