import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "undici";

/**
 * Generates load in its own process: sends "begin" to its parent process, then the result. Each
 * connection sends its next request when it has the response to the previous one. The generator
 * uses undici, the HTTP client of most callers on Node.js.
 */

/** The load. The process gets it as its argument, in JSON. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Name of a header whose value differs between all requests; undefined for none. */
  readonly uniqueHeader?: string | undefined;
  readonly connections: number;
  readonly seconds: number;
  /** Seconds before the measurement, until the connections are open and the rate is steady. */
  readonly rampSeconds: number;
}

export interface LoadResult {
  /** Requests that completed within the measured time. */
  readonly requests: number;
  /** All completed requests, including those before and after the measured time. */
  readonly total: number;
  readonly failures: number;
  readonly seconds: number;
  /** Begin and end of the measured time, as Unix time in milliseconds. */
  readonly beganAt: number;
  readonly endedAt: number;
  /** Percentiles of the latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const latencies: number[] = [];
let total = 0;
let failures = 0;
let measuring = false;
let stopped = false;
let sent = 0;
/**
 * Part of the value of `uniqueHeader`, different for each process. A value from an earlier
 * measurement would, for example as an event id, make the request a repeat that starts no run.
 */
const run = Date.now().toString(36);

const uniqueHeader = () =>
  load.uniqueHeader === undefined ? {} : { [load.uniqueHeader]: `${run}-${++sent}` };

async function connection(): Promise<void> {
  const client = new Client(`http://127.0.0.1:${load.port}`, {
    pipelining: 1,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
  });
  while (!stopped) {
    const sentAt = performance.now();
    const response = await client.request({
      method: "POST",
      path: load.path,
      headers: { "content-type": "application/json", ...load.headers, ...uniqueHeader() },
      body: load.body,
    });
    const text = await response.body.text();
    total++;
    if (response.statusCode !== 200 && failures++ === 0)
      console.error(`the first failure: ${text}`);
    if (measuring) latencies.push(performance.now() - sentAt);
  }
  await client.close();
}

try {
  const connections = Promise.all(Array.from({ length: load.connections }, connection));
  process.send?.("begin");
  await Promise.race([connections, sleep(load.rampSeconds * 1_000)]);
  measuring = true;
  const [beganAt, began] = [Date.now(), performance.now()];
  await Promise.race([connections, sleep(load.seconds * 1_000)]);
  measuring = false;
  stopped = true;
  const [endedAt, seconds] = [Date.now(), (performance.now() - began) / 1_000];
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  await connections;
  const result: LoadResult = {
    requests: sorted.length,
    total,
    failures,
    seconds,
    beganAt,
    endedAt,
    p50: at(0.5),
    p99: at(0.99),
  };
  process.send?.(result, () => process.exit());
} catch (thrown) {
  process.send?.({ error: thrown instanceof Error ? thrown.message : String(thrown) }, () =>
    process.exit(1),
  );
}
