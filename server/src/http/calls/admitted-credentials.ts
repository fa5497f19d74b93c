import { LRUCache } from "lru-cache";
import { type Caller, callerId, mayStart, type StartRequest } from "../../runs/index.ts";
import type { Services } from "../services.ts";

/** Callers that the gate has accepted before. Beyond that one is asked for again. */
const maxHints = 50_000;

/**
 * Lets a body be read before the gate has judged the credential: from a known one at once, from another after asking. That is all a hint
 * permits; the gate judges each start anew, so a hint that has outlived its credential opens nothing. Refusals are never remembered.
 */
export interface AdmittedCredentials {
  /** Whether a body may be read without asking. */
  has(caller: Caller): boolean;
  /** Asks the gate. @throws ApiError of it, for a credential that does not stand. */
  ask(request: Pick<StartRequest, "source" | "caller" | "agentId">): Promise<void>;
  forget(caller: Caller): void;
}

/** Creates the cache of admitted credentials of one process. */
export function createAdmittedCredentials(services: Pick<Services, "runs">): AdmittedCredentials {
  const known = new LRUCache<string, true>({ max: maxHints });
  return {
    has: (caller) => known.has(callerId(caller)),
    async ask(request) {
      await mayStart(services.runs, request);
      known.set(callerId(request.caller), true);
    },
    forget: (caller) => known.delete(callerId(caller)),
  };
}
