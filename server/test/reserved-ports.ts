import { type AddressInfo, createServer, type Server } from "node:net";

/** Maximum scripted servers that a Beckon of one test process can call. */
const count = 32;

/**
 * Listeners on free ports of 127.0.0.1, which reserve the ports for the scripted servers of this
 * process. All are reserved together, so that a Beckon can be started with permission to call the
 * scripted servers (`BECKON_EGRESS_ALLOW`) before these are started.
 */
let held: Promise<Server[]> | undefined;

function holders(): Promise<Server[]> {
  held ??= Promise.all(Array.from({ length: count }, hold));
  return held;
}

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    // A reserved port does not keep the process alive.
    server.listen(0, "127.0.0.1", () => resolve(server.unref()));
  });
}

let allowed: string | undefined;

/** Returns all reserved ports in the format of `BECKON_EGRESS_ALLOW`. */
export async function reservedHosts(): Promise<string> {
  allowed ??= (await holders())
    .map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
    .join(",");
  return allowed;
}

/**
 * Returns a reserved port, as an argument for `listen`. When all are in use, returns a random free
 * port, which no Beckon is allowed to call.
 */
export async function takeReserved(): Promise<
  Server | { readonly port: number; readonly host: string }
> {
  await reservedHosts();
  return (await holders()).pop() ?? { port: 0, host: "127.0.0.1" };
}
