import { execFile } from "node:child_process";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Listener, listenOn } from "../../../test/listeners.ts";
import { elapsed } from "../clock.ts";
import { createEgress, type EgressTestHooks, type LeanFetch } from "./index.ts";

/**
 * Default limits, which are too long to be reached. Each test replaces the limit that it tests by a
 * short one, which ends the call long before 20 s even on a busy machine.
 */
const limits = {
  connectTimeoutMs: 20_000,
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  totalTimeoutMs: 20_000,
};
let listener: Listener;
let at: string;

beforeAll(async () => {
  listener = await listenOn("127.0.0.1", ({ url }, response) => {
    if (url === "/silent") return;
    if (url === "/large-head") response.setHeader("x-large", "x".repeat(100_000));
    if (url === "/hints") {
      const more = setInterval(() => response.writeEarlyHints({ link: "</a>; rel=preload" }), 10);
      response.once("close", () => clearInterval(more));
      return;
    }
    response.write("x".repeat(1_000));
    if (url === "/dripping") {
      const more = setInterval(() => response.write("x"), 10);
      response.once("close", () => clearInterval(more));
    } else if (url !== "/stalling") response.end("x".repeat(url === "/large" ? 100_000 : 0));
  });
  at = `127.0.0.1:${listener.port}`;
});
afterAll(() => listener.close());

/**
 * The two functions of `LeanFetch` that make calls. Both resolve when the whole body has arrived.
 */
const ways = {
  fetch: (egress: LeanFetch, url: string) => egress.fetch(url).then((response) => response.text()),
  call: (egress: LeanFetch, url: string) =>
    egress.call(new URL(url), { method: "GET", headers: {} }).then(({ text }) => text),
};

type Shorter = Partial<typeof limits> & { maxResponseBytes?: number };

/**
 * Makes a call with `shorter` in place of the default limits. Resolves with the code of its error,
 * or `none` if it succeeds, and its duration in milliseconds.
 */
async function failureOf(
  way: keyof typeof ways,
  path: string,
  shorter: Shorter,
  testHooks?: EgressTestHooks,
) {
  const egress = createEgress(
    { ...limits, ...shorter, allow: [at, `tool.test:${listener.port}`, "10.255.255.1:80"] },
    testHooks,
  );
  const began = elapsed();
  const ended = ways[way](egress, path.startsWith("http") ? path : `http://${at}${path}`);
  const code = await ended.then(
    () => "none",
    (error: { code?: unknown }) => error.code,
  );
  await egress.close();
  return { code, took: elapsed() - began };
}

describe.each(["fetch", "call"] as const)("a call by %s is aborted", (way) => {
  const failure = (path: string, shorter: Shorter, testHooks?: EgressTestHooks) =>
    failureOf(way, path, shorter, testHooks);

  it("when its name is not resolved in time", async () => {
    const { code, took } = await failure(
      `http://tool.test:${listener.port}/`,
      { connectTimeoutMs: 50 },
      { resolve: () => new Promise(() => undefined) },
    );
    expect(code).toBe("UND_ERR_CONNECT_TIMEOUT");
    expect(took).toBeLessThan(10_000);
  });

  it("when the connection is not opened in time", async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const egress = createEgress({ ...limits, connectTimeoutMs: 50, allow: [`127.0.0.1:${port}`] });
    // The TLS handshake counts as connecting; this server does not respond to it.
    await expect(ways[way](egress, `https://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: "UND_ERR_CONNECT_TIMEOUT",
    });
    await egress.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it("when the head of the response does not arrive in time", async () => {
    expect((await failure("/silent", { headersTimeoutMs: 50 })).code).toBe(
      "UND_ERR_HEADERS_TIMEOUT",
    );
  });

  it("when the body stops for too long", async () => {
    expect((await failure("/stalling", { bodyTimeoutMs: 50 })).code).toBe("UND_ERR_BODY_TIMEOUT");
  });

  it.each(["/silent", "/hints", "/stalling", "/dripping"])(
    "when the total time is over, whatever arrives (%s)",
    async (path) => {
      const { code, took } = await failure(path, { totalTimeoutMs: 300 });
      expect(code).toBe("BECKON_TOTAL_TIMEOUT");
      expect(took).toBeGreaterThan(290);
      expect(took).toBeLessThan(10_000);
    },
  );

  it("when the total time is over during the lookup, and is not sent afterwards", async () => {
    const before = listener.hosts.length;
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const egress = createEgress(
      { ...limits, totalTimeoutMs: 50, allow: [`tool.test:${listener.port}`] },
      { resolve: () => promise },
    );
    await expect(ways[way](egress, `http://tool.test:${listener.port}/`)).rejects.toMatchObject({
      code: "BECKON_TOTAL_TIMEOUT",
    });
    const { connections } = listener;
    resolve(["127.0.0.1"]);
    await expect.poll(() => listener.connections).toBe(connections + 1);
    await egress.close();
    expect(listener.hosts).toHaveLength(before);
  });

  it("when the response or its head is too large", async () => {
    expect((await failure("/large", { maxResponseBytes: 10_000 })).code).toBe(
      "UND_ERR_RES_EXCEEDED_MAX_SIZE",
    );
    expect((await failure("/large-head", {})).code).toBe("UND_ERR_HEADERS_OVERFLOW");
    expect((await failure("/", {})).code).toBe("none");
  });
});

it("a finished call leaves no timer", async () => {
  const timers = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const egress = createEgress({ ...limits, allow: [at] });
  const before = timers();
  for (let n = 0; n < 20; n += 1) {
    for (const call of Object.values(ways)) {
      await call(egress, `http://${at}/`);
      await expect(call(egress, "http://127.0.0.2/")).rejects.toThrow();
    }
  }
  expect(timers() - before).toBeLessThan(10);
  await egress.close();
});

describe("TLS", () => {
  it("verifies the name at the checked address", async () => {
    const lookups: string[] = [];
    const server: Server = createTlsServer({
      SNICallback: (name, done) => {
        lookups.push(name);
        done(new Error("no certificate here"));
      },
    });
    server.on("tlsClientError", () => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const egress = createEgress(
      { ...limits, allow: [`tool.test:${port}`] },
      { resolve: async () => ["127.0.0.9", "127.0.0.1"] },
    );
    await expect(egress.fetch(`https://tool.test:${port}/`)).rejects.toThrow();
    expect(lookups).toEqual(["tool.test"]);
    await egress.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

it("proxy variables of the environment are ignored", async () => {
  const proxy = await listenOn(
    "127.0.0.1",
    (_request, response) => void response.end("by the proxy"),
  );
  const index = new URL("index.ts", import.meta.url).href;
  const program = `
    import { createEgress } from ${JSON.stringify(index)};
    const egress = createEgress(${JSON.stringify({ ...limits, allow: [at] })});
    const answer = await (await egress.fetch("http://${at}/")).text();
    const denied = await egress.fetch("http://127.0.0.2:${listener.port}/").catch((error) => error.name);
    console.log(answer.length, denied);
    await egress.close();`;
  const url = `http://127.0.0.1:${proxy.port}`;
  const variables = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "npm_config_proxy",
  ];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    {
      env: {
        ...Object.fromEntries(variables.map((name) => [name, url])),
        NO_PROXY: "",
        NODE_USE_ENV_PROXY: "1",
      },
    },
  );
  expect(stdout).toBe("1000 EgressDenied\n");
  expect(proxy.connections).toBe(0);
  await proxy.close();
});
