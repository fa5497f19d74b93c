import { lookup } from "node:dns/promises";
import net from "node:net";
import { ConfigError } from "../base/errors.ts";
import { listenError } from "../base/listen-error.ts";

/** A port that this process has bound, for its servers to listen on together. */
export interface ClaimedPort {
  readonly fd: number;
  /** Servers that inherited it keep it. Closing twice is harmless. */
  close(): void;
}

/**
 * Binds HOST and PORT once, for servers that inherit the socket. Rejected: `reusePort` in each
 * server, with which another installation on the same port would receive a share of the requests.
 * Until a server listens, another installation can bind the port too; the first to listen gets it,
 * and the other's server fails.
 * @throws ConfigError if another process listens there.
 */
export async function claimPort({
  host,
  port,
}: {
  host: string;
  port: number;
}): Promise<ClaimedPort> {
  // The system's Node can be any 24; 24.19 added BoundSocket.
  if (net.BoundSocket === undefined) {
    throw new ConfigError(
      "BECKON_PROCESSES above 1 needs Node.js 24.19 or newer; this is " +
        `${process.versions.node}. Install a newer one, or set BECKON_PROCESSES to 1.`,
    );
  }
  try {
    const { address } = await lookup(host);
    const socket = new net.BoundSocket({ host: address, port });
    return { fd: socket.fd(), close: () => socket[Symbol.dispose]() };
  } catch (thrown) {
    throw listenError(thrown, { host, port });
  }
}
