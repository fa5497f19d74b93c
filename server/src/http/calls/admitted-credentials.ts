import { LRUCache } from "lru-cache";
import { type Caller, callerId, type StartRequest, workspaceOfCaller } from "../../runs/index.ts";
import type { Services } from "../services.ts";

/**
 * Maximum number of callers in the cache. When there are more, the least recently used one is
 * dropped, and its credential is queried before its next body is read.
 */
const maxCallers = 50_000;

/**
 * Cache of callers whose credential was valid at an earlier request, with their workspaces. A body
 * is read only if its caller is in the cache or a query finds the credential valid, so the cache
 * saves this query.
 * Every start of a run checks the credential again, so a revoked credential starts nothing even if
 * it is still in the cache. Rejected credentials are not cached.
 */
export interface AdmittedCredentials {
  /**
   * Returns the id of the caller's workspace. If the caller is not in the cache, queries its
   * credential and adds the caller to the cache.
   * @throws ApiError the errors of `workspaceOfCaller`. The caller is then not added.
   */
  workspaceOf(request: Pick<StartRequest, "source" | "caller" | "agentId">): Promise<string>;
  forget(caller: Caller): void;
}

/** Creates the cache of admitted credentials of one process. */
export function createAdmittedCredentials(services: Pick<Services, "runs">): AdmittedCredentials {
  const known = new LRUCache<string, string>({ max: maxCallers });
  return {
    async workspaceOf(request) {
      const id = callerId(request.caller);
      let workspaceId = known.get(id);
      if (workspaceId === undefined) {
        workspaceId = await workspaceOfCaller(services.runs, request);
        known.set(id, workspaceId);
      }
      return workspaceId;
    },
    forget: (caller) => known.delete(callerId(caller)),
  };
}
