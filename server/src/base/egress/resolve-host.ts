import { lookup } from "node:dns/promises";
import { ByteBudget } from "../byte-budget.ts";

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
  // The budget counts each lookup as one byte.
  const turns = new ByteBudget({ maxBytes: maxChecks, shareMax: 0.5 });
  return async (hostname, workspaceId, signal) => {
    const turn = turns.hold(workspaceId);
    try {
      await turn.enter(1, signal);
      return await resolve(hostname);
    } finally {
      turn.release();
    }
  };
}
