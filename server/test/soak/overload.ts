import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { freePort, launch, ready, stopProducts } from "../../../e2e/product.ts";
import { echo, startModelServer } from "../model-server.ts";

/**
 * Offers a server ten times the load that it can execute. Its capacity is set low, so that the test
 * measures how Beckon behaves and not how fast the machine is. All figures are compared with those
 * of the same server at its capacity. Run by script/soak.
 */

const maxRuns = 20;
const maxQueuedRuns = 40;
const modelMs = 500;
/**
 * Callers while the peak is measured. They are more than `maxRuns`, so that some runs always wait
 * and the server is never idle.
 */
const peakCallers = 2 * maxRuns;
/** Runs that the server can execute in a second. */
const capacity = (maxRuns * 1_000) / modelMs;
const overload = 10;
const peakSeconds = 10;
const overloadSeconds = 20;
const minGoodput = 0.8;
const maxRecoverySeconds = 30;
/** Maximum time for a response that does not wait for a run, while the server is overloaded. */
const maxOtherMs = 2_000;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: {
    readonly output?: string;
    readonly run_id?: string;
    readonly data?: Created;
  };
}

/** The fields that this test reads of a created object. Each kind has only some of them. */
interface Created {
  readonly id: string;
  readonly url: string;
}

/** A response to an invoke, and its time in milliseconds. */
interface TimedResponse {
  readonly status: number;
  readonly ms: number;
}

/**
 * Runs the test. Returns false if a guarantee was broken.
 *
 * @param log receives each problem, and a line of figures.
 */
export async function overloadServer(log: (line: string) => void): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "beckon-overload-"));
  const model = await startModelServer({ host: "127.0.0.1", port: await freePort() });
  const dispatcher = new Agent({ connections: 2_000, keepAliveTimeout: 60_000 });
  try {
    model.script(async (asked, index) => {
      await delay(modelMs);
      return echo()(asked, index);
    });
    const beckon = launch({
      BECKON_DATA_DIR: join(folder, "data"),
      BECKON_EGRESS_ALLOW: new URL(model.url).host,
      BECKON_MAX_RUNS: String(maxRuns),
      LOG_LEVEL: "warn",
      PORT: String(await freePort()),
    });
    await ready(beckon, 120);
    const key = (await readFile(join(folder, "data/bootstrap.key"), "utf8")).trim();
    return await measure({ url: beckon.url, key, modelUrl: model.url, dispatcher, log });
  } finally {
    await stopProducts();
    await dispatcher.destroy();
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure({
  url,
  key,
  modelUrl,
  dispatcher,
  log,
}: {
  url: string;
  key: string;
  modelUrl: string;
  dispatcher: Agent;
  log: (line: string) => void;
}): Promise<boolean> {
  const broken: string[] = [];
  async function call(
    path: string,
    { body, method = body === undefined ? "GET" : "POST" }: Call = {},
  ): Promise<Answer> {
    const response = await request(path.startsWith("http") ? path : `${url}${path}`, {
      method,
      dispatcher,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const retryAfter = response.headers["retry-after"];
    return {
      status: response.statusCode,
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      body: (await response.body.json()) as Answer["body"],
    };
  }
  const created = async (path: string, body: object): Promise<Created> => {
    const { status, body: answer } = await call(`/api/public${path}`, { body });
    if (answer.data === undefined) throw new Error(`POST ${path} responded with ${status}`);
    return answer.data;
  };
  await created("/providers", { name: "slow", kind: "openai-compatible", base_url: modelUrl });
  const limits = { max_queued_runs: maxQueuedRuns };
  const agent = await created("/agents", { name: "Busy", model: "slow/scripted", limits });
  const other = await created("/agents", { name: "Other", model: "slow/scripted" });
  const trigger = await created(`/agents/${other.id}/triggers`, { name: "Other" });
  const invokePath = `/api/public/agents/${agent.id}/invoke`;

  let sent = 0;
  /** When each run of the load succeeded, as milliseconds of `performance.now()`. */
  const succeeded: number[] = [];
  async function invoke(): Promise<TimedResponse | undefined> {
    const input = `request ${++sent}`;
    const sentAt = performance.now();
    const answer = await call(invokePath, { body: { input } }).catch((thrown) => {
      broken.push(`a request without a response: ${thrown}`);
    });
    if (answer === undefined) return undefined;
    const now = performance.now();
    if (answer.status === 200) {
      if (answer.body.output === input) succeeded.push(now);
      else broken.push(`a 200 without its own output: ${JSON.stringify(answer.body)}`);
    } else if (answer.status === 429 || answer.status === 503) {
      if (!(Number(answer.retryAfter) > 0)) broken.push(`a ${answer.status} without Retry-After`);
    } else broken.push(`status ${answer.status}: ${JSON.stringify(answer.body)}`);
    return { status: answer.status, ms: now - sentAt };
  }
  const goodput = (from: number, to: number) =>
    succeeded.filter((at) => at >= from && at < to).length / ((to - from) / 1_000);

  /** Keeps `peakCallers` requests in progress until `isOver`. */
  async function atCapacity(isOver: () => boolean): Promise<void> {
    await Promise.all(
      Array.from({ length: peakCallers }, async () => {
        while (!isOver()) await invoke();
      }),
    );
  }

  const warmUp = performance.now() + 3_000;
  await atCapacity(() => performance.now() > warmUp);
  const peakFrom = performance.now() + 1_000;
  const peakTo = peakFrom + peakSeconds * 1_000;
  await atCapacity(() => performance.now() > peakTo);
  const peak = goodput(peakFrom, peakTo);

  // The overload sends requests at a fixed rate, without waiting for responses. A load that waits
  // for them would slow down together with the server.
  const overloadFrom = performance.now();
  const overloadTo = overloadFrom + overloadSeconds * 1_000;
  const requests: Promise<TimedResponse | undefined>[] = [];
  const others = measureOthers();
  // `others` is awaited after the load. Without a handler, an earlier rejection would end the
  // process.
  others.catch(() => {});
  while (performance.now() < overloadTo) {
    const due = ((performance.now() - overloadFrom) / 1_000) * capacity * overload;
    while (requests.length < due) requests.push(invoke());
    await delay(5);
  }
  const underOverload = goodput(overloadFrom + 1_000, overloadTo);
  const offered = requests.length / overloadSeconds;
  const otherMs = await others;

  // Seconds from the end of the overload to the end of the first second in which goodput is at
  // least `minGoodput` of the peak; undefined if there is none. The first second after the overload
  // is skipped, because runs that were queued during the overload end in it.
  let recoverySeconds: number | undefined;
  const recoveryEnd = overloadTo + maxRecoverySeconds * 1_000;
  await Promise.all([
    atCapacity(() => recoverySeconds !== undefined || performance.now() > recoveryEnd),
    (async () => {
      for (let second = 1; second <= maxRecoverySeconds; second++) {
        await delay(Math.max(0, overloadTo + second * 1_000 - performance.now()));
        const to = overloadTo + second * 1_000;
        if (second > 1 && requests.length > 0 && goodput(to - 1_000, to) >= minGoodput * peak) {
          recoverySeconds = second;
          return;
        }
      }
    })(),
  ]);
  const { statuses, rejectedP99Ms } = summarizeResponses(await Promise.all(requests));

  async function measureOthers(): Promise<number> {
    let worst = 0;
    const timed = async (what: string, wanted: number, work: Promise<Answer>) => {
      const began = performance.now();
      const answer = await work;
      worst = Math.max(worst, performance.now() - began);
      if (answer.status !== wanted) broken.push(`${what}: ${answer.status} under overload`);
      return answer;
    };
    while (performance.now() < overloadTo - 500) {
      await timed("health", 200, call("/healthz"));
      await timed("readiness", 200, call("/readyz"));
      await timed("reading", 200, call(`/api/public/agents/${agent.id}/runs`));
      const fired = await timed(
        "acknowledgement",
        200,
        call(trigger.url, { body: { text: "Hello" } }),
      );
      const run = `/api/public/runs/${fired.body.run_id}`;
      await timed("reading a run", 200, call(run));
      await timed("cancel", 200, call(`${run}/cancel`, { method: "POST" }));
      await delay(250);
    }
    return worst;
  }

  const part = underOverload / peak;
  broken.push(...wrongWithGoodput(peak, underOverload));
  if (recoverySeconds === undefined) broken.push(`no recovery within ${maxRecoverySeconds} s`);
  if (otherMs > maxOtherMs) broken.push(`a response without a run took ${otherMs.toFixed(0)} ms`);
  for (const line of broken.slice(0, 20)) log(`✗ overload: ${line}`);
  log(
    `soak: overload, capacity ${capacity} runs/s: peak ${peak.toFixed(1)} runs/s, ` +
      `${offered.toFixed(0)} requests/s offered, goodput ${underOverload.toFixed(1)} runs/s ` +
      `(${(part * 100).toFixed(0)} %); responses ` +
      `${[...statuses].map(([status, count]) => `${status}: ${count}`).join(", ")}; ` +
      `rejections p99 ${rejectedP99Ms.toFixed(0)} ms; other requests at most ${otherMs.toFixed(0)} ms; ` +
      `recovery ${recoverySeconds ?? "none"} s; ${broken.length} promises broken`,
  );
  return broken.length === 0;
}

/**
 * Returns a line for the log if too few runs succeed under overload; else an empty list. Both
 * parameters are rates: successful runs per second.
 */
export function wrongWithGoodput(peak: number, underOverload: number): string[] {
  // If no run succeeded at the peak, every goodput would pass the comparison below.
  if (!(peak > 0)) return ["no run succeeded at the capacity"];
  const part = underOverload / peak;
  return part < minGoodput ? [`goodput ${(part * 100).toFixed(0)} % of the peak`] : [];
}

/**
 * Returns how many requests got each status, `none` without a response, and the time within which
 * 99 % of the rejections arrived.
 */
export function summarizeResponses(responses: readonly (TimedResponse | undefined)[]): {
  readonly statuses: ReadonlyMap<number | "none", number>;
  readonly rejectedP99Ms: number;
} {
  const byStatus = Map.groupBy(responses, (response) => response?.status ?? "none");
  const rejectedMs = responses
    .flatMap((response) => (response === undefined || response.status === 200 ? [] : response.ms))
    .toSorted((one, other) => one - other);
  return {
    statuses: new Map([...byStatus].map(([status, { length }]) => [status, length])),
    rejectedP99Ms: rejectedMs[Math.floor(rejectedMs.length * 0.99)] ?? 0,
  };
}

interface Call {
  readonly body?: unknown;
  readonly method?: "GET" | "POST";
}
