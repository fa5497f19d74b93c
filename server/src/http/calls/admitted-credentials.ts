import { LRUCache } from "lru-cache";
import { type Caller, callerId, mayStart, type StartRequest } from "../../runs/index.ts";
import type { Services } from "../services.ts";

/**
 * Maximum number of callers in the cache. When there are more, the least recently used one is
 * dropped, and its credential is queried before its next body is read.
 */
const maxCallers = 50_000;

/**
 * Cache of callers whose credential was valid at an earlier request. A body is read only if its
 * caller is in the cache or a query finds the credential valid, so the cache saves this query.
 * Every start of a run checks the credential again, so a revoked credential starts nothing even if
 * it is still in the cache. Rejected credentials are not cached.
 */
export interface AdmittedCredentials {
  /** Returns whether the body can be read without querying the credential first. */
  has(caller: Caller): boolean;
  /**
   * Queries the credential and adds the caller to the cache.
   * @throws ApiError the errors of `mayStart`. The caller is then not added.
   */
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
