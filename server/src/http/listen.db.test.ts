import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { newId } from "../base/ids.ts";

const beckon = await startTestBeckon({ HOST: "0.0.0.0" });

async function urlAt(host: string): Promise<string> {
  const another = await beckon.another({ settings: { HOST: host } });
  onTestFinished(() => another.stop());
  return another.url;
}

test("a server that listens on all addresses uses one in its links that can be opened", async () => {
  expect(beckon.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await urlAt("::")).toMatch(/^http:\/\/\[::1\]:\d+$/);
  const { url } = await beckon.createTrigger((await beckon.createAgent()).id);
  expect(url.startsWith(`${beckon.url}/`)).toBe(true);
  expect(
    (await fetch(url, { method: "POST", body: "Hello", headers: { "content-type": "text/plain" } }))
      .status,
  ).toBe(200);
});

test("a server that listens on one address uses that one, as configured", async () => {
  expect(await urlAt("localhost")).toMatch(/^http:\/\/localhost:\d+$/);
  expect(await urlAt("::1")).toMatch(/^http:\/\/\[::1\]:\d+$/);
});

/** Opens a connection that reads nothing until the test reads it. */
async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/**
 * Starts a server with a client that has read the beginning of a response. The response is larger
 * than the buffers of the sockets.
 */
async function startWithSlowReader(settings: Record<string, string>) {
  const { body } = await beckon.invoke(await beckon.createAgent(), "Hello");
  const id = newId("art");
  await beckon.db.database.engine.query(
    `insert into artifacts (id, workspace_id, run_id, media_type, content)
      select $1, workspace_id, id, 'image/png', $2 from runs where id = $3`,
    [id, Buffer.alloc(bytes), body.run_id],
  );
  const server = await beckon.another({ settings, connectionLimits: { closeMs: 1 } });
  const reader = await openSocket(server.url);
  const path = `/api/public/runs/${body.run_id}/artifacts/${id}`;
  reader.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${beckon.key}\r\n\r\n`);
  await once(reader, "readable");
  return { server, reader };
}
const bytes = 16_000_000;

test("a stop waits within the drain time for a client that is still reading a response", async () => {
  const { server, reader } = await startWithSlowReader({ BECKON_DRAIN_SECONDS: "20" });
  const silent = (await openSocket(server.url)).resume();
  const stopped = server.stop();
  // The server closes this connection after `closeMs`, because there is no request on it.
  await once(silent, "close");
  let received = 0;
  for await (const chunk of reader) received += chunk.length;
  expect(received).toBeGreaterThan(bytes);
  await stopped;
});

test("after the drain time, a stop disconnects clients that read nothing", async () => {
  const { server } = await startWithSlowReader({ BECKON_DRAIN_SECONDS: "0" });
  await server.stop();
});

/** Makes each iteration of the event loop take `ms`, as on a busy machine, until the test ends. */
function slowDown(ms: number): void {
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const iterate = () => {
    const end = performance.now() + ms;
    while (performance.now() < end);
    if (!isOver) setImmediate(iterate);
  };
  iterate();
}

test("a stop resets no connection that clients have opened before it", async () => {
  const server = await beckon.another();
  // One connection is accepted in each iteration, so most of them wait when the server stops.
  slowDown(20);
  const sockets = await Promise.all(Array.from({ length: 40 }, () => openSocket(server.url)));
  const answers = sockets.map(async (socket) => {
    socket.write("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    return (await once(socket, "data")).toString().slice(0, 12);
  });
  const stopped = server.stop();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["HTTP/1.1 200"]));
  await stopped;
});

test("a stop sends a response completely although its handler has ended", async () => {
  const agent = await beckon.createAgent();
  const input = "x".repeat(1_000_000);
  const { body } = await beckon.invoke(agent, input);
  const server = await beckon.another({
    settings: { BECKON_DRAIN_SECONDS: "20" },
    connectionLimits: { closeMs: 1 },
  });
  const reader = await openSocket(server.url);
  // One response could fit into the buffers of the sockets.
  const count = 4;
  for (let sent = 0; sent < count; sent++)
    reader.write(requestOf(`/api/public/runs/${body.run_id}`));
  await once(reader, "readable");
  const silent = (await openSocket(server.url)).resume();
  const stopped = server.stop();
  // Idle connections are closed before this one.
  await once(silent, "close");
  let received = 0;
  for await (const chunk of reader) received += chunk.length;
  // Each response has input and output.
  expect(received).toBeGreaterThan(count * 2 * input.length);
  await stopped;
});

const requestOf = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${beckon.key}\r\n\r\n`;

test("during a stop, the last response on a connection says that it closes", async () => {
  const server = await beckon.another();
  const socket = await openSocket(server.url);
  let response = "";
  let stopped: Promise<void> | undefined;
  do {
    socket.write(requestOf("/healthz"));
    response = (await once(socket, "data")).toString();
    stopped ??= server.stop();
  } while (/^connection: keep-alive/im.test(response));
  expect(response).toMatch(/^connection: close/im);
  await stopped;
});

test("a stop does not wait for the rest of a request, and says so", async () => {
  const server = await beckon.another({
    settings: { BECKON_DRAIN_SECONDS: "600" },
    connectionLimits: { closeMs: 100, checkMs: 50 },
  });
  const { id } = await beckon.createAgent();
  const socket = await openSocket(server.url);
  const path = `/api/public/agents/${id}/invoke`;
  const head = requestOf(path).replace("GET", "POST").trimEnd();
  socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"i`);
  const response = once(socket, "data");
  await server.stop();
  expect(String(await response)).toMatch(/^HTTP\/1\.1 408 /);
});
