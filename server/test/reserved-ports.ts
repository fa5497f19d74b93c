import { type AddressInfo, createServer, type Server } from "node:net";

/** Scripted servers that a Beckon of one test process may call. */
const count = 32;

/**
 * Ports of 127.0.0.1 that scripted servers of this process will listen on, held from the first moment, so that a Beckon can be
 * started with leave to call them (`BECKON_EGRESS_ALLOW`) before they are.
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
    // Nobody waits for a port that is only held.
    server.listen(0, "127.0.0.1", () => resolve(server.unref()));
  });
}

let allowed: string | undefined;

/** All of them, as `BECKON_EGRESS_ALLOW` takes them. */
export async function reservedHosts(): Promise<string> {
  allowed ??= (await holders())
    .map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
    .join(",");
  return allowed;
}

/** One of them, to be listened on in its holder's place; when all are taken, another port, which no Beckon has leave to call. */
export async function takeReserved(): Promise<
  Server | { readonly port: number; readonly host: string }
> {
  await reservedHosts();
  return (await holders()).pop() ?? { port: 0, host: "127.0.0.1" };
}
