import { lookup } from "node:dns/promises";

/** All addresses of a name, of both families, in the order in which to try them; rejects with the resolver's error. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * Asks the system, as every other program on the machine does: hosts file, search list, resolver of a container's network.
 *
 * Rejected: `dns.resolve4` and `dns.resolve6`. They need no thread, but do not know names like `host.docker.internal`, which
 * exceptions are made for.
 */
export const resolveHost: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true });
  return answers.map(({ address }) => address);
};

/** Connections that open at the same time to one name wait for one answer: the system looks up only a few names at once. */
export function sharingAnswers(resolve: Resolve): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>();
  return (hostname) => {
    const asked = underWay.get(hostname);
    if (asked !== undefined) return asked;
    const answer = resolve(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, answer);
    return answer;
  };
}
