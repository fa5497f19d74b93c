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
 * Like `Resolve`, on behalf of a workspace.
 * @param owner id of the workspace. Calls whose owner is undefined get the share of one workspace.
 */
export type Lookups = (hostname: string, owner: string | undefined) => ReturnType<Resolve>;

/**
 * Resolves with the system's resolver, as other programs on the machine do: hosts file, search
 * list, resolver of a container's network.
 *
 * Rejected: `dns.resolve4` and `dns.resolve6`. They need no thread, but cannot resolve names like
 * `host.docker.internal`, which operators put into BECKON_EGRESS_ALLOW.
 */
const resolveHost: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/**
 * Returns the resolver of a process: it shares lookups and limits those that are slow. There must
 * be one per process, because its limits are shares of the process's threads.
 * @param resolve the resolver to limit. Default: the system's.
 */
export function createLookups(resolve: Resolve = resolveHost): Lookups {
  return shareLookups(limitSlowLookups(resolve));
}

/**
 * Returns a resolver that shares one lookup between concurrent calls of one workspace for the same
 * name: the system runs only a few lookups at a time.
 */
function shareLookups(lookUp: Lookups): Lookups {
  const pending = new Map<string, ReturnType<Resolve>>();
  return (hostname, owner) => {
    const key = `${owner} ${hostname}`;
    const shared = pending.get(key);
    if (shared !== undefined) return shared;
    const result = lookUp(hostname, owner).finally(() => pending.delete(key));
    pending.set(key, result);
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
  lookUp: Lookups,
): (hostname: string, workspaceId: string, signal: AbortSignal) => ReturnType<Resolve> {
  const inTurn = createTurns({ max: maxChecks, shareMax: 0.5 });
  return (hostname, workspaceId, signal) =>
    inTurn(workspaceId, () => lookUp(hostname, workspaceId), signal);
}

/** A lookup that takes longer than this is slow, in milliseconds. */
const slowMs = 2_000;
/**
 * Maximum number of lookups at a time of names whose last lookup was slow, or that were not looked
 * up yet; one workspace gets half of them. It leaves half of the threads to other names.
 */
const maxUnproven = 8;
/**
 * Maximum number of lookups at a time of names whose last lookup was fast; one workspace gets a
 * quarter of them. All of these names can stop responding at once.
 */
const maxProven = 16;
/** Maximum time that a name waits for its turn. */
const maxWaitMs = 10_000;
const maxRememberedNames = 10_000;

/**
 * Returns a resolver in which names take turns: those whose last lookup was fast, and all others.
 * Callers stop waiting for a lookup after their own timeout, but the lookup keeps its thread, of
 * which a server has few (`uvThreads` in `supervisor/keep-servers.ts`). Otherwise a tenant whose
 * tools or receivers have names with silent DNS servers could occupy all of them, and the calls of
 * all other tenants would fail. Callers must share lookups (`shareLookups`): a name is known to be
 * slow only when its lookup has ended.
 *
 * A lookup that has begun is shared by all workspaces, and counts for the one that began it. A
 * lookup that waits is not shared: one workspace must not wait for the turn of another.
 *
 * Rejected: turns only for names that are known to be slow. New names would then occupy all
 * threads, and slow down the names of others so that these take turns, too. Turns by domain: a
 * tenant can have any number of domains, and tenants can have names in the same one.
 * @throws an error with the code EAI_AGAIN if a name waits longer than `maxWaitMs` for its turn.
 *   The system's resolver uses this code for temporary failures.
 */
export function limitSlowLookups(resolve: Resolve): Lookups {
  const fast = new LRUCache<string, true>({ max: maxRememberedNames });
  const unproven = createTurns({ max: maxUnproven, shareMax: 0.5 });
  const proven = createTurns({ max: maxProven, shareMax: 0.25 });
  const begun = new Map<string, ReturnType<Resolve>>();
  const timed: Resolve = async (hostname) => {
    const began = elapsed();
    try {
      return await resolve(hostname);
    } finally {
      if (elapsed() - began < slowMs) fast.set(hostname, true);
      else fast.delete(hostname);
    }
  };
  const begin: Resolve = (hostname) => {
    const lookup = begun.get(hostname) ?? timed(hostname).finally(() => begun.delete(hostname));
    begun.set(hostname, lookup);
    return lookup;
  };
  return async (hostname, owner = "") => {
    const shared = begun.get(hostname);
    if (shared !== undefined) return shared;
    const inTurn = fast.get(hostname) === true ? proven : unproven;
    const signal = AbortSignal.timeout(maxWaitMs);
    try {
      return await inTurn(owner, () => begin(hostname), signal);
    } catch (thrown) {
      if (thrown !== signal.reason) throw thrown;
      const message = `${hostname} was not looked up within ${maxWaitMs / 1_000} seconds`;
      throw Object.assign(new Error(message, { cause: thrown }), { code: "EAI_AGAIN" });
    }
  };
}
