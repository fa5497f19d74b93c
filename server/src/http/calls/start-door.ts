import type { ByteHold } from "../../base/byte-budget.ts";
import { attempt, Refusal, type Result } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import {
  type Caller,
  callerId,
  type Started,
  type StartRequest,
  startRun,
} from "../../runs/index.ts";
import { addressOf, bindKey, type Request, readBody } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { Hints } from "./hints.ts";

/** What an HTTP request to start a run says before its body is read. */
export interface StartHead extends Pick<StartRequest, "source" | "agentId" | "hearer"> {
  /** Undefined: the credential is absent or malformed, and is rejected without a query. */
  readonly caller: Caller | undefined;
  /** The session by which the caller is signed in, with cookies to set in the response. */
  readonly session?: { readonly id: string; readonly cookies: readonly string[] };
  readonly key: Result<string> | undefined;
  /** Makes the payload of the raw body. @throws Refusal */
  readonly payloadOf: (bytes: Buffer) => string;
  readonly contentType: string | undefined;
}

/** Checks the credential, reads the body, and starts the run. @throws Refusal in the order of the contract. */
export async function start(
  services: Services,
  hints: Hints,
  c: Request,
  head: StartHead,
): Promise<Started> {
  const { incoming } = c.env;
  const { caller } = head;
  let hold: ByteHold | undefined;
  try {
    if (caller === undefined) throw new Refusal("unauthorized", unauthorizedMessage);
    if (!hints.has(caller)) await hints.ask({ source: head.source, caller, agentId: head.agentId });
    hold = services.runs.memory.exchanges.hold(callerId(caller));
    return await startRun(services.runs, await readStart(c, { ...head, caller }, hold));
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== "unauthorized") throw thrown;
    if (caller !== undefined) hints.forget(caller);
    throw services.failedAuthentications.answer(
      addressOf(incoming, services.trustProxy),
      thrown.message,
    );
  } finally {
    hold?.release();
  }
}

/** Reads the body. Rejects only if the client goes away before it is complete. */
async function readStart(
  c: Request,
  head: StartHead & { caller: Caller },
  hold: ByteHold,
): Promise<StartRequest> {
  const { source, caller, agentId, contentType = null, hearer, key, payloadOf } = head;
  const body = await readBody(c.env.incoming, hold);
  const payload = body.ok ? attempt(() => payloadOf(body.value)) : body;
  return { source, caller, agentId, contentType, hearer, payload, idempotency: bindKey(key, body) };
}
