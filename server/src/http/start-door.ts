import type { ByteHold } from "../base/byte-budget.ts";
import { Refusal } from "../base/errors.ts";
import { type Started, type StartRequest, startRun, unauthorizedMessage } from "../runs/index.ts";
import type { Hints } from "./hints.ts";
import { hashBody, type RawBody, readBody } from "./read-body.ts";
import { addressOf, type Request } from "./request.ts";
import type { Services } from "./services.ts";

/** What both doors that start runs share: credential before body, and every refusal in its turn. */
export interface StartDoor {
  readonly door: StartRequest["door"];
  /** Undefined: absent or malformed, refused without a query. */
  readonly credentialHash: Buffer | undefined;
  /** Who is signed in, with the right to invoke; the hash stands for them. */
  readonly member?: StartRequest["member"];
  /** Theirs; with cookies to set in the answer. */
  readonly session?: { readonly id: string; readonly cookies: readonly string[] };
  readonly agentId: string | null;
  readonly key: string | undefined | Refusal;
  /** Makes the payload of the raw body. @throws Refusal */
  readonly payloadOf: (bytes: Buffer) => string;
  readonly contentType: string | undefined;
  /** The caller reads the run's stream. */
  readonly hearer?: StartRequest["hearer"];
}

export async function start(services: Services, hints: Hints, c: Request, door: StartDoor): Promise<Started> {
  const { incoming } = c.env;
  const { credentialHash, member, key } = door;
  let hold: ByteHold | undefined;
  try {
    if (credentialHash === undefined) throw new Refusal("unauthorized", unauthorizedMessage);
    const credential = { door: door.door, credentialHash, member, agentId: door.agentId };
    if (!hints.has(credentialHash)) await hints.ask(credential);
    hold = services.runtime.exchanges.hold(credentialHash.toString("latin1"));
    const raw = await readBody(incoming, hold);
    const { contentType = null, hearer } = door;
    return await startRun(services.runtime, { ...credential, contentType, hearer, ...judge(raw, key, door.payloadOf) });
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== "unauthorized") throw thrown;
    if (credentialHash !== undefined) hints.forget(credentialHash);
    throw services.failedAuthentications.answer(addressOf(incoming, services.trustProxy), thrown.message);
  } finally {
    hold?.release();
  }
}

type Judged = Pick<StartRequest, "key" | "bodyHash" | "payload" | "body" | "bodyRefusal">;

/** What the gate is told of body and key. A key that is none is refused where a key would be looked up. */
function judge(raw: RawBody, key: string | undefined | Refusal, payloadOf: StartDoor["payloadOf"]): Judged {
  if (key instanceof Refusal) return { key: "", bodyHash: null, payload: "", body: "unhashable", bodyRefusal: key };
  if (raw.bytes === undefined) return { key: key ?? null, bodyHash: null, payload: "", body: "unhashable", bodyRefusal: raw.refusal };
  const hash = key === undefined ? null : hashBody(raw);
  const bodyHash = hash instanceof Refusal ? null : hash;
  try {
    return { key: key ?? null, bodyHash, payload: payloadOf(raw.bytes), body: "good" };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return { key: key ?? null, bodyHash, payload: "", body: "bad", bodyRefusal: thrown };
  }
}
