import { Client } from "undici";

/**
 * Load in a process of its own: each connection sends its next request when it has the answer to the last. Over undici, the client that most
 * callers on Node have, since a generator that knows nothing of HTTP would make every server look slow beside it.
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
const latencies: number[] = [];
let failures = 0;
let measuring = false;
let stopped = false;

async function connection(): Promise<void> {
  const client = new Client(`http://127.0.0.1:${load.port}`, { pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
  while (!stopped) {
    const sentAt = performance.now();
    const answer = await client.request({ method: "POST", path: load.path, headers: load.headers, body: load.body });
    const text = await answer.body.text();
    if (!measuring) continue;
    latencies.push(performance.now() - sentAt);
    if (answer.statusCode !== 200 && failures++ === 0) console.error(`the first failure: ${text}`);
  }
  await client.close();
}

const connections = Array.from({ length: load.connections }, connection);
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
