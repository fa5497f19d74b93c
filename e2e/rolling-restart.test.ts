import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { startHeldModel } from "../server/test/held-model.ts";
import { allSucceeded } from "../server/test/runs-of.ts";
import { checkout, freePort, temporaryFolder, until } from "./product.ts";
import { isInstalled, path, writeNginxConfig } from "./proxy.ts";

/**
 * This server provides the database and creates the agents. It executes no runs, and is never
 * restarted. The requests that must not be lost go to other servers, behind nginx.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const folder = temporaryFolder();

/** A server at a fixed port, which can be restarted. */
async function startServer(): Promise<{
  port: number;
  stop(): Promise<void>;
  start(): Promise<void>;
}> {
  const port = await freePort();
  const settings = {
    PORT: String(port),
    BECKON_ROLE: "all",
    BECKON_DRAIN_DELAY_SECONDS: "1",
    BECKON_DRAIN_SECONDS: "30",
  };
  let running: Awaited<ReturnType<typeof beckon.another>> | undefined;
  const stop = async () => {
    const stopping = running;
    running = undefined;
    await stopping?.stop();
  };
  const start = async () => {
    running = await beckon.another({ settings });
  };
  await start();
  onTestFinished(stop);
  return { port, stop, start };
}

/**
 * Starts nginx with the configuration of deploy/nginx, without TLS, as proxy for the servers on
 * `ports`. Its log names the server of each request.
 * @param readTimeout replaces the value of `proxy_read_timeout`
 */
async function startNginx(ports: readonly number[], readTimeout = "660s") {
  const listen = await freePort();
  const log = join(folder, "access.log");
  const example = readFileSync(join(checkout, "deploy/nginx/beckon.conf"), "utf8")
    .replace(/server 127\.0\.0\.1:3000.*/, (server) =>
      ports.map((port) => server.replace("3000", String(port))).join("\n"),
    )
    .replace("listen 443 ssl http2;", `listen 127.0.0.1:${listen};`)
    .replace("listen [::]:443 ssl http2;", "")
    .replace(/ssl_certificate.*;/g, "")
    .replace(/access_log .*;/, "")
    .replace("/var/log/nginx", folder)
    .replace("proxy_read_timeout 660s", `proxy_read_timeout ${readTimeout}`);
  const http = `log_format servers "$upstream_addr $status"; ${example}`;
  const config = writeNginxConfig(folder, http, `${log} servers`);
  const nginx = spawn("nginx", ["-p", folder, "-c", config], {
    env: { PATH: path },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => nginx.once("exit", resolve));
  onTestFinished(async () => {
    nginx.kill("SIGTERM");
    await exited;
  });
  const url = `http://127.0.0.1:${listen}`;
  await until(
    "nginx",
    async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true,
  );
  return {
    url,
    /**
     * Returns a lower bound of the number of requests that the server on `port` answered with 200
     * at nginx's first attempt. The number is not exact: of two adjacent lines of the log that
     * match, only one is counted, because two matches cannot share a line break.
     */
    answeredBy: (port: number) =>
      readFileSync(log, "utf8").split(`\n127.0.0.1:${port} 200\n`).length - 1,
  };
}

/**
 * Starts Caddy with the configuration of deploy/caddy, without TLS, and the options of
 * docs/scale.md, as proxy for the servers on `ports`.
 * @param readTimeout replaces the value of `response_header_timeout`
 */
async function startCaddy(ports: readonly number[], readTimeout = "660s") {
  const listen = await freePort();
  const [, balancing = "", connecting = ""] =
    /```caddyfile\nreverse_proxy.*\n((?:.*\n)*?)\ttransport http \{\n(.*)\n/.exec(
      readFileSync(join(checkout, "docs/scale.md"), "utf8"),
    ) ?? [];
  const servers = ports.map((port) => `127.0.0.1:${port}`).join(" ");
  const config = readFileSync(join(checkout, "deploy/caddy/Caddyfile"), "utf8")
    .replace("agents.example.com {", `http://127.0.0.1:${listen} {`)
    .replace("reverse_proxy 127.0.0.1:3000 {", `reverse_proxy ${servers} {\n${balancing}`)
    .replace("transport http {", `transport http {\n${connecting}`)
    .replace("response_header_timeout 660s", `response_header_timeout ${readTimeout}`)
    // The first line with only a brace begins the global options.
    .replace(/^\{$/m, "{\n\tadmin off");
  const file = join(folder, "Caddyfile");
  writeFileSync(file, config);
  const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", file], {
    env: { PATH: path, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => caddy.once("exit", resolve));
  onTestFinished(async () => {
    caddy.kill("SIGTERM");
    await exited;
  });
  const url = `http://127.0.0.1:${listen}`;
  await until(
    "Caddy",
    async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true,
  );
  return { url };
}

const proxies = [
  { program: "nginx", start: startNginx },
  { program: "caddy", start: startCaddy },
].filter(({ program }) => isInstalled(program));

test.skipIf(!isInstalled("nginx"))(
  "a rolling restart of two servers behind nginx loses no request",
  async () => {
    const servers = [await startServer(), await startServer()];
    const nginx = await startNginx(servers.map(({ port }) => port));
    const agent = await beckon.createAgent();
    const { token } = await beckon.createTrigger(agent.id);
    const held = await startHeldModel(beckon);
    const slow = await beckon.createAgent({ model: held.model });
    const at = (route: string) => `${nginx.url}/api/public${route}`;
    const as = (credential: string) => ({
      "x-api-key": credential,
      "content-type": "application/json",
    });
    const invoke = (one: { id: string; token: string }) =>
      fetch(at(`/agents/${one.id}/invoke`), {
        method: "POST",
        headers: as(one.token),
        body: '{"input":"Hello"}',
      });
    const kinds = [
      () => invoke(agent),
      () => fetch(at(`/agents/${agent.id}`), { headers: as(beckon.key) }),
      () => fetch(at(`/triggers/${token}`), { method: "POST", body: "Hello" }),
    ];

    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    let starts = 0;
    const lost: string[] = [];
    const callers = Array.from({ length: 6 }, async (_, caller) => {
      for (let count = caller; !isOver; count++) {
        const kind = count % kinds.length;
        if (kind !== 1) starts++;
        const outcome = await kinds[kind]?.().then(
          async (response) => `${response.status} ${await response.text()}`,
          String,
        );
        if (!outcome?.startsWith("200 ")) lost.push(`${kind}: ${outcome}`);
      }
    });
    // These four runs are in progress when the first server begins to stop.
    const waiting = Array.from({ length: 4 }, () => invoke(slow));
    await held.reached(4);
    for (const server of servers) {
      const stopped = server.stop();
      held.release();
      await stopped;
      await server.start();
      const before = nginx.answeredBy(server.port);
      await until("requests at the new server", () => nginx.answeredBy(server.port) > before);
    }
    isOver = true;
    await Promise.all(callers);
    expect(lost).toEqual([]);
    for (const response of waiting) expect((await response).status).toBe(200);
    await allSucceeded(beckon, agent.id, starts);
  },
);

/**
 * Starts a process that listens on a port and accepts no connection, and fills the port's backlog.
 * The kernel then drops each further SYN. So nginx gets no response, as if the machine had lost
 * power.
 */
async function startSilentPort(): Promise<number> {
  const port = await freePort();
  const listening = `require("node:net").createServer().listen(
    { port: ${port}, host: "127.0.0.1", backlog: 1 },
    () => {
      console.log("listening");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    },
  )`;
  const child = spawn(process.execPath, ["-e", listening], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  // Linux queues one connection more than the backlog.
  for (let count = 0; count < 2; count++) {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    await once(socket, "connect");
  }
  return port;
}

test.skipIf(!isInstalled("nginx"))(
  "if one of two machines accepts no connection, each request succeeds within seconds",
  async () => {
    const server = await startServer();
    const nginx = await startNginx([server.port, await startSilentPort()]);
    const { token } = await beckon.createTrigger((await beckon.createAgent()).id);
    const fire = () =>
      fetch(`${nginx.url}/api/public/triggers/${token}`, {
        method: "POST",
        body: "Hello",
        signal: AbortSignal.timeout(15_000),
      });
    const responses = await Promise.all(Array.from({ length: 8 }, fire));
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
  },
);

/** Starts a server that answers each GET, and calls `onPost` instead of answering a POST. */
const startHangingServer = (onPost: () => void) =>
  listenWith((request, response) => {
    if (request.method === "GET") response.end();
    else onPost();
  });

async function listenWith(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test.each(proxies)(
  "a POST that $program has sent and gets no response in time is not sent to another machine",
  async ({ start }) => {
    let received = 0;
    const server = () => startHangingServer(() => received++);
    const proxy = await start([await server(), await server()], "1s");
    const { status } = await fetch(proxy.url, { method: "POST", body: "Hello" });
    expect([status, received]).toEqual([504, 1]);
  },
);

test.skipIf(!isInstalled("nginx"))(
  "callers that get no response in time do not make nginx leave their machines out",
  async () => {
    const reached: string[] = [];
    const ports = await Promise.all(
      ["first", "second"].map((name) => startHangingServer(() => reached.push(name))),
    );
    const nginx = await startNginx(ports, "1s");
    const post = () => fetch(nginx.url, { method: "POST", body: "Hello" });
    const timedOut = await Promise.all([post(), post()]);
    expect(timedOut.map(({ status }) => status)).toEqual([504, 504]);
    expect(reached.sort()).toEqual(["first", "second"]);
    expect((await fetch(nginx.url)).status).toBe(200);
  },
);

test.skipIf(!isInstalled("caddy"))(
  "Caddy sends no request to a machine that is not ready",
  async () => {
    let checks = 0;
    const received: string[] = [];
    const ready = await listenWith((_, response) => response.end());
    const stopping = await listenWith(({ url = "" }, response) => {
      if (url === "/readyz") checks++;
      else received.push(url);
      response.writeHead(503).end();
    });
    const caddy = await startCaddy([ready, stopping]);
    // When a further check arrives, Caddy has the result of an earlier one.
    const before = checks;
    await until("two checks of the machine", () => checks >= before + 2);
    for (let count = 0; count < 20; count++) await fetch(`${caddy.url}/healthz`);
    expect(received).toEqual([]);
  },
);
