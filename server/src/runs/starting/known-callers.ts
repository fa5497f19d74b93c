import { LRUCache } from "lru-cache";
import { authenticated, type Caller, callerId } from "./start-row.ts";

/** What this process knows about callers from the starts that it has sent. */
export interface KnownCallers {
  /**
   * Whether the workspace of the caller has limits. The requests of such callers are sent with the
   * variant of the start statement that checks limits. Requests of other callers are first sent
   * with the cheaper variant that does not, and are sent again if their workspace has limits.
   */
  isLimited(caller: Caller): boolean;
  noteLimited(caller: Caller, isLimited: boolean): void;
  /** Returns the workspace of the caller, which never changes; undefined if it is not known. */
  workspaceOf(caller: Caller): string | undefined;
  noteWorkspace(caller: Caller, workspaceId: string): void;
}

const maxCallers = 10_000;

/** Creates the list of known callers. */
export function createKnownCallers(): KnownCallers {
  const limited = new LRUCache<string, true>({ max: maxCallers });
  const workspaces = new LRUCache<string, string>({ max: maxCallers });
  return {
    isLimited: (caller) => limited.get(callerId(caller)) === true,
    noteLimited(caller, isLimited) {
      if (isLimited) limited.set(callerId(caller), true);
      else if (limited.size > 0) limited.delete(callerId(caller));
    },
    workspaceOf: (caller) => authenticated(caller)?.workspaceId ?? workspaces.get(callerId(caller)),
    noteWorkspace: (caller, workspaceId) => void workspaces.set(callerId(caller), workspaceId),
  };
}
