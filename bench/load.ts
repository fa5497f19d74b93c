import { connect, type Socket } from "node:net";

/**
 * Load over raw sockets, in a process of its own: each connection sends its next request when it has the answer to the last. A client
 * library would spend more CPU than the servers that are compared, on the same two cores.
 */
interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const head = Object.entries({ host: `127.0.0.1:${load.port}`, "content-length": String(Buffer.byteLength(load.body)), ...load.headers });
const request = `POST ${load.path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${load.body}`;

const latencies: number[] = [];
let failures = 0;
let measuring = false;
let stopped = false;

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
    let received = "";
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding("latin1");
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => (stopped ? resolve() : reject(new Error("the server closed a connection"))));
    socket.on("data", (chunk: string) => {
      received += chunk;
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN);
      if (Number.isNaN(length)) return reject(new Error(`an answer without a length: ${received.slice(0, 200)}`));
      if (received.length < end + 4 + length) return;
      if (measuring) {
        latencies.push(performance.now() - sentAt);
        if (!received.startsWith("HTTP/1.1 200") && failures++ === 0) console.error(`the first failure: ${received.slice(end + 4)}`);
      }
      received = "";
      if (stopped) socket.end();
      else send();
    });
  });
}

const connections = Array.from({ length: load.connections }, open);
setTimeout(() => {
  measuring = true;
  process.send?.("begin");
  const began = performance.now();
  setTimeout(() => {
    measuring = false;
    stopped = true;
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
    const seconds = (performance.now() - began) / 1_000;
    const result: LoadResult = { requests: sorted.length, failures, seconds, p50: at(0.5), p99: at(0.99) };
    process.send?.(result);
    void Promise.allSettled(connections).then(() => process.exit());
    setTimeout(() => process.exit(), 3_000);
  }, load.seconds * 1_000);
}, load.warmUpSeconds * 1_000);
Promise.all(connections).catch((error: Error) => {
  process.send?.({ error: error.message });
  process.exit(1);
});
