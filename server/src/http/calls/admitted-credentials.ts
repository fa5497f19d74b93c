import { LRUCache } from "lru-cache";
import { type Caller, callerId, mayStart, type StartRequest } from "../../runs/index.ts";
import type { Services } from "../services.ts";

/** Callers in the cache. Beyond that, the one that was used least recently is queried again. */
const maxCallers = 50_000;

/**
 * Cache of admitted credentials: decides only whether a body is read before the admission check.
 * Without an entry the database is queried first. The check tests the credential of every start, so
 * an entry that has outlived its credential grants nothing. Rejections are not cached.
 */
export interface AdmittedCredentials {
  /** Whether the body can be read without a query. */
  has(caller: Caller): boolean;
  /** Queries the credential. @throws ApiError of the admission check if it is not valid */
  check(request: Pick<StartRequest, "source" | "caller" | "agentId">): Promise<void>;
  forget(caller: Caller): void;
}

/** Creates the cache of admitted credentials of one process. */
export function createAdmittedCredentials(services: Pick<Services, "runs">): AdmittedCredentials {
  const known = new LRUCache<string, true>({ max: maxCallers });
  return {
    has: (caller) => known.has(callerId(caller)),
    async check(request) {
      await mayStart(services.runs, request);
      known.set(callerId(request.caller), true);
    },
    forget: (caller) => known.delete(callerId(caller)),
  };
}
