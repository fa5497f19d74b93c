import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that resets its first connections in the middle of a response. */
export interface ResettingProxy {
  readonly url: string;
  /** Number of connections that were reset. */
  readonly cuts: number;
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of `target`.
 * @param after numbers of response bytes. The first connection is reset after the first number of
 *   bytes, the second connection after the second number, and so on. Further ones are not reset.
 */
export async function startResettingProxy(
  target: URL,
  after: readonly number[],
): Promise<ResettingProxy> {
  const open = new Set<Socket>();
  let connections = 0;
  let cuts = 0;
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const maxBytes = after[connections++] ?? Number.POSITIVE_INFINITY;
    let passed = 0;
    client.pipe(server);
    server.on("data", (bytes: Buffer) => {
      const rest = bytes.subarray(0, Math.max(0, maxBytes - passed));
      passed += bytes.length;
      if (passed < maxBytes) return void client.write(rest);
      if (passed - bytes.length >= maxBytes) return;
      cuts++;
      client.write(rest, () => client.resetAndDestroy());
      server.destroy();
    });
    server.on("close", () => {
      if (passed < maxBytes) client.destroy();
    });
    client.on("close", () => server.destroy());
    for (const socket of [client, server]) socket.on("error", () => {});
    open.add(client);
    client.on("close", () => open.delete(client));
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const client of open) client.destroy();
      }),
  };
}
