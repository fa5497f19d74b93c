import net, { createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../base/errors.ts";
import { checkPort, claimPort } from "./claim-port.ts";

async function claim(
  host: string,
  port: number,
): Promise<{ fd: number; server: Server; port: number }> {
  const claimed = await claimPort({ host, port });
  const server = createServer();
  onTestFinished(() => {
    server.close();
    claimed.close();
  });
  await new Promise<void>((resolve) => server.listen({ fd: claimed.fd }, 1, resolve));
  const address = server.address();
  return { fd: claimed.fd, server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["localhost", "localhost"],
  ["0.0.0.0", "127.0.0.1"],
  ["127.0.0.1", "0.0.0.0"],
  ["::", "127.0.0.1"],
  ["0.0.0.0", "::"],
  ["::1", "::"],
])("a port that is claimed on %s cannot be claimed on %s", async (first, second) => {
  const { port } = await claim(first, 0);
  const refused = claimPort({ host: second, port });
  await expect(refused).rejects.toBeInstanceOf(ConfigError);
  await expect(refused).rejects.toThrow(`Beckon cannot listen on ${second}:${port} (EADDRINUSE).`);
});

test("each address of the machine has its own ports", async () => {
  const { port } = await claim("127.0.0.1", 0);
  expect((await claim("127.0.0.2", port)).port).toBe(port);
});

test("an address that is not the machine's is an error that names the setting", async () => {
  await expect(claimPort({ host: "192.0.2.1", port: 0 })).rejects.toThrow(
    "(EADDRNOTAVAIL). Set HOST and PORT",
  );
  await expect(claimPort({ host: "nowhere.invalid", port: 0 })).rejects.toThrow(
    "Set HOST and PORT",
  );
});

test.each([
  ["that can share ports", net.BoundSocket],
  ["that cannot", undefined],
])("with a Node.js %s, the check finds a port in use and keeps none", async (_, own) => {
  const { BoundSocket } = net;
  onTestFinished(() => void Object.assign(net, { BoundSocket }));
  Object.assign(net, { BoundSocket: own });
  const server = createServer();
  const host = "127.0.0.1";
  await new Promise<void>((resolve) => server.listen({ host, port: 0 }, resolve));
  const address = { host, port: Number(Object(server.address()).port) };
  await expect(checkPort(address)).rejects.toThrow("(EADDRINUSE)");
  await new Promise((resolve) => server.close(resolve));
  await checkPort(address);
  await checkPort(address);
});
