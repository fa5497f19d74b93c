import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";

/**
 * Connections that send too little or too much. The timeouts are short, so that the tests are fast,
 * but longer than the pauses in valid requests on a busy machine.
 */
const beckon = await startTestBeckon(
  {},
  { connectionLimits: { headersMs: 3_000, requestMs: 4_000, keepAliveMs: 60_000, checkMs: 100 } },
);
const { hostname, port } = new URL(beckon.url);

/**
 * Opens connections and sends `first` on each. Reads what arrives, because a socket that is not
 * read does not report that the server has closed it.
 */
async function open(count: number, first = ""): Promise<{ socket: Socket; answer: string }[]> {
  const connections = Array.from({ length: count }, () => {
    const connection = { socket: connect(Number(port), hostname), answer: "" };
    connection.socket.setEncoding("latin1").on("data", (text) => {
      connection.answer += text;
    });
    // The server closes the connection while the test still sends.
    connection.socket.on("error", () => {});
    return connection;
  });
  onTestFinished(() => {
    for (const { socket } of connections) socket.destroy();
  });
  await Promise.all(connections.map(({ socket }) => once(socket, "connect")));
  if (first !== "") for (const { socket } of connections) socket.write(first);
  return connections;
}

/** Sends the piece on each open connection every 100 ms, until the test ends. */
function drip(sockets: readonly Socket[], piece: string): void {
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(piece);
  }, 100);
  onTestFinished(() => clearInterval(timer));
}

/** Sends valid requests until `isOver` is true, and expects that each succeeds. */
async function validTraffic(isOver: () => boolean): Promise<number> {
  const agent = await beckon.createAgent();
  const { url } = await beckon.createTrigger(agent.id);
  let count = 0;
  const callers = Array.from({ length: 4 }, async () => {
    do {
      expect((await beckon.invoke(agent, "Hello")).body.output).toBe("Hello");
      expect((await beckon.call(`/agents/${agent.id}`)).status).toBe(200);
      expect((await beckon.call(url, { credential: null, body: "Hello" })).status).toBe(200);
      count += 3;
    } while (!isOver());
  });
  await Promise.all(callers);
  return count;
}

test("1,000 idle sockets, slow headers and slow bodies do not harm valid requests, and are closed", async () => {
  const request = `POST /api/public/agents/agt_1/invoke HTTP/1.1\r\nhost: ${hostname}\r\n`;
  const idle = await open(1_000);
  const slowHeaders = await open(100, request);
  const slowBodies = await open(
    100,
    `${request}x-api-key: ${beckon.key}\r\ncontent-length: 900\r\n\r\n`,
  );
  drip(
    slowHeaders.map(({ socket }) => socket),
    "x: y\r\n",
  );
  drip(
    slowBodies.map(({ socket }) => socket),
    " ",
  );
  const all = [...idle, ...slowHeaders, ...slowBodies];
  const isOver = () => all.every(({ socket }) => socket.closed);
  const [count] = await Promise.all([
    validTraffic(isOver),
    eventually("the end of these connections", () => isOver() || undefined, 50_000),
  ]);
  expect(count).toBeGreaterThan(0);
  for (const { answer } of slowHeaders) expect(answer).toMatch(/^HTTP\/1\.1 408 .*too slowly/s);
});

test("floods of headers are rejected, and do not harm valid requests", async () => {
  const start = `GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\n`;
  const flooding = await open(50, start);
  const isOver = () => flooding.every(({ socket }) => socket.closed);
  const flood = async ({ socket }: { socket: Socket }) => {
    // 64 KiB of headers without an end, four times the limit.
    for (let sent = 0; sent < 64 && socket.writable; sent++) {
      socket.write(`x-${sent}: ${"y".repeat(1_000)}\r\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all([validTraffic(isOver), ...flooding.map(flood)]);
  const answers = flooding.map(({ answer }) => answer).filter((answer) => answer !== "");
  // The server resets a connection that still sends, and its response can be lost then.
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 431 .*larger than 16 KiB/s);
  // Many small headers are within the limit, so this request is valid.
  const small = await open(1, `${start}connection: close\r\n${"a: b\r\n".repeat(500)}\r\n`);
  await eventually("the response", () => small.every(({ socket }) => socket.closed) || undefined);
  expect(small[0]?.answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("a client that reads no response is disconnected, and one that waits for its response is not", async () => {
  const { log, named } = captureLog();
  const impatient = await startTestBeckon({}, { connectionLimits: { stallMs: 300 }, log });
  const held = await startHeldModel(impatient);
  const agent = await impatient.createAgent({ model: held.model });
  const waiting = impatient.invoke(agent, "Hello");
  await held.reached(1);

  const address = new URL(impatient.url);
  const socket = connect(Number(address.port), address.hostname).on("error", () => {});
  onTestFinished(() => void socket.destroy());
  // The responses have 40 MB, which is more than the network buffers of a connection hold.
  socket.pause().write(`GET /openapi.json HTTP/1.1\r\nhost: ${address.host}\r\n\r\n`.repeat(40));
  await eventually(
    "the end of the connection",
    () => named("request").some(({ disconnected }) => disconnected) || undefined,
  );
  held.release();
  expect((await waiting).body.output).toBe("Hello");
});
