import { lookup } from "node:dns/promises";
import { once } from "node:events";
import net from "node:net";
import { ConfigError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";

/** A port that this process has bound and on which all its servers listen. */
export interface ClaimedPort {
  readonly fd: number;
  /**
   * Closes the socket in this process. Servers that have inherited it keep it. A second call has no
   * effect.
   */
  close(): void;
}

/**
 * Binds HOST and PORT once. The servers inherit the socket. The alternative, `reusePort` in each
 * server, was rejected: another installation on the same port would receive a share of the
 * requests. Until a server listens, another installation can bind the port too. In that case, the
 * installation that listens first gets the port, and servers of the other one fail to start.
 * @throws ConfigError if another process listens there, if the address cannot be bound, or if this
 *   Node.js cannot share a port (`requireSharedPort`).
 */
export async function claimPort({
  host,
  port,
}: {
  host: string;
  port: number;
}): Promise<ClaimedPort> {
  requireSharedPort();
  try {
    const { address } = await lookup(host);
    const socket = new net.BoundSocket({ host: address, port });
    return { fd: socket.fd(), close: () => socket[Symbol.dispose]() };
  } catch (thrown) {
    throw listenError(thrown, { host, port });
  }
}

/**
 * Checks that the only server can listen on HOST and PORT, and keeps neither. The server itself
 * listens late in its startup, after it has migrated the database and replaced the bootstrap key.
 * Without this check, a second installation that is started by mistake would do both before it
 * fails.
 * @throws ConfigError if another process listens there, or if the address cannot be bound.
 */
export async function checkPort({ host, port }: { host: string; port: number }): Promise<void> {
  // Does not listen, because a proxy could connect and lose the request when the socket is closed.
  if (net.BoundSocket !== undefined) return (await claimPort({ host, port })).close();
  const server = net.createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host, port }), "listening");
  } catch (thrown) {
    throw listenError(thrown, { host, port });
  } finally {
    server.close();
  }
}

/**
 * Checks that servers of this Node.js can inherit a bound socket. `net.BoundSocket` came with 24.19
 * and 26.4, and Beckon also runs on earlier releases.
 * @throws ConfigError if they cannot.
 */
export function requireSharedPort(): void {
  if (net.BoundSocket !== undefined) return;
  throw new ConfigError(
    "BECKON_PROCESSES above 1 needs Node.js 24.19 to 24.x, or 26.4 or newer; this is " +
      `${process.versions.node}. Install a newer one, or set BECKON_PROCESSES to 1.`,
  );
}
