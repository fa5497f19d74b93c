import { LRUCache } from "lru-cache";
import { type Caller, callerId } from "./start-row.ts";

/**
 * The callers whose workspaces have limits, as far as this process knows. Their requests are sent
 * with the variant of the start statement that checks limits. Requests of other callers are first
 * sent with the cheaper variant that does not, and are sent again if their workspace has limits.
 */
export interface LimitedCallers {
  has(caller: Caller): boolean;
  note(caller: Caller, isLimited: boolean): void;
}

const maxCallers = 10_000;

/** Creates the list of callers whose workspaces have limits. */
export function createLimitedCallers(): LimitedCallers {
  const callers = new LRUCache<string, true>({ max: maxCallers });
  return {
    has: (caller) => callers.get(callerId(caller)) === true,
    note(caller, isLimited) {
      if (isLimited) callers.set(callerId(caller), true);
      else if (callers.size > 0) callers.delete(callerId(caller));
    },
  };
}
