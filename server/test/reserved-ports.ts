import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Number of ports that are reserved at once. A Beckon server can call at most this many scripted
 * servers that are started after it.
 */
const count = 32;

/**
 * Listeners on free ports of 127.0.0.1, which reserve the ports for the scripted servers of this
 * process. All ports are reserved at once: a Beckon server is started with permission to call them
 * (`BECKON_EGRESS_ALLOW`), before the scripted servers that use them are started.
 */
const held: Server[] = [];

/** Hosts of the ports that scripted servers took since the last `forgetTaken`. */
const taken: string[] = [];

let reserving: Promise<void> = Promise.resolve();

/** Reserves ports until `count` are held. */
function reserve(): Promise<void> {
  reserving = reserving.then(async () => {
    // New ports are put at the front and used last, because a running Beckon server is allowed to
    // call only the ports that were reserved before it started.
    held.unshift(...(await Promise.all(Array.from({ length: count - held.length }, hold))));
  });
  return reserving;
}

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    // A reserved port does not keep the process alive.
    server.listen(0, "127.0.0.1", () => resolve(server.unref()));
  });
}

const hostOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

/**
 * Returns the ports of scripted servers, running or not yet started, in the format of
 * `BECKON_EGRESS_ALLOW`.
 */
export async function reservedHosts(): Promise<string> {
  await reserve();
  return [...taken, ...held.map(hostOf)].join(",");
}

/**
 * Returns a listener on a reserved port, as an argument for `listen`. If none is left, returns port
 * 0, which means a random free port that no Beckon server is allowed to call.
 */
export async function takeReserved(): Promise<
  Server | { readonly port: number; readonly host: string }
> {
  if (taken.length === 0) await reserve();
  const server = held.pop();
  if (server === undefined) return { port: 0, host: "127.0.0.1" };
  taken.push(hostOf(server));
  return server;
}

/**
 * Empties the list of ports that scripted servers took, to which `reservedHosts` permits calls.
 * Must be called when the servers of a test file are closed: other programs can use these ports
 * afterwards, so the Beckon servers of the next file must not be allowed to call them.
 */
export function forgetTaken(): void {
  taken.length = 0;
}
