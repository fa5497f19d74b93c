import { lookup } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import { createTurns } from "../byte-budget.ts";
import { elapsed } from "../clock.ts";

/**
 * Returns all addresses of a name, IPv4 and IPv6, in the order in which to try them. Rejects with
 * the resolver's error.
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * Resolves with the system's resolver, as other programs on the machine do: hosts file, search
 * list, resolver of a container's network.
 *
 * Rejected: `dns.resolve4` and `dns.resolve6`. They need no thread, but cannot resolve names like
 * `host.docker.internal`, which operators put into BECKON_EGRESS_ALLOW.
 */
export const resolveHost: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/**
 * Returns a resolver that shares one lookup between concurrent calls for the same name: the system
 * runs only a few lookups at a time.
 */
export function shareLookups(resolve: Resolve): Resolve {
  const pending = new Map<string, ReturnType<Resolve>>();
  return (hostname) => {
    const shared = pending.get(hostname);
    if (shared !== undefined) return shared;
    const result = resolve(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, result);
    return result;
  };
}

/**
 * Maximum number of lookups at a time for checks of URLs that people enter; one workspace gets half
 * of them. It is far below the 16 lookups that Node.js executes at a time in a server (half of
 * `uvThreads` in `supervisor/keep-servers.ts`). If the DNS servers of checked names do not respond,
 * threads are therefore left for the lookups of calls.
 */
const maxChecks = 4;

/**
 * Returns a resolver for checks of URLs that people enter. A lookup waits for its turn until
 * `signal` aborts; then it rejects. `signal` does not end a lookup that has begun, which takes a
 * thread until the system's resolver ends it.
 */
export function limitLookups(
  resolve: Resolve,
): (hostname: string, workspaceId: string, signal: AbortSignal) => ReturnType<Resolve> {
  const inTurn = createTurns({ max: maxChecks, shareMax: 0.5 });
  return (hostname, workspaceId, signal) => inTurn(workspaceId, () => resolve(hostname), signal);
}

/** A lookup that takes longer than this is slow, in milliseconds. */
const slowMs = 2_000;
/** Maximum number of lookups at a time of names whose last lookup was slow. */
const maxSlow = 4;
const maxRememberedNames = 1_000;

/**
 * Returns a resolver in which names whose last lookup was slow take turns. Callers stop waiting for
 * a lookup after their own timeout, but the lookup keeps its thread, of which a server has few
 * (`uvThreads` in `supervisor/keep-servers.ts`). Otherwise a tenant whose tools or receivers have
 * names with silent DNS servers could occupy all of them, and the calls of all other tenants would
 * fail. Callers must share lookups (`shareLookups`): a name is known to be slow only when its
 * lookup has ended.
 */
export function limitSlowLookups(resolve: Resolve): Resolve {
  const slow = new LRUCache<string, true>({ max: maxRememberedNames });
  const inTurn = createTurns({ max: maxSlow, shareMax: 1 });
  const timed: Resolve = async (hostname) => {
    const began = elapsed();
    try {
      return await resolve(hostname);
    } finally {
      if (elapsed() - began < slowMs) slow.delete(hostname);
      else slow.set(hostname, true);
    }
  };
  return (hostname) =>
    slow.has(hostname) ? inTurn(hostname, () => timed(hostname)) : timed(hostname);
}
