import { lookup } from "node:dns/promises";

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
