import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { startEmbedded } from "../../src/base/database/embedded/index.ts";
import { connect } from "../../src/base/database/index.ts";
import { createLog } from "../../src/base/log.ts";
import { heapFlags, serverFlags } from "../../src/supervisor/keep-servers.ts";
import { parseFromServer } from "../../src/supervisor/messages.ts";
import { eventually } from "../eventually.ts";
import { startGuard } from "../guard.ts";
import { insertStranger } from "../workspace-key.ts";

/**
 * One workspace tries to fill the memory of a server that has the byte budget of production. The
 * workspace starts runs whose models stream 30 MB and then send nothing more, starts runs with 9 MB
 * of output, and sends bodies of 1 MiB. Meanwhile another workspace invokes its agent. Run by
 * script/soak or with: node server/test/soak/memory.ts
 */

const heldRuns = 500;
const heldBytes = 30_000_000;
const largeRuns = 60;
const largeBytes = 9_000_000;
const bodies = 300;
const callers = 4;
/** Minimum number of invokes of the other workspace in each part of the test. */
const invokes = 400;

interface Peak {
  heap: number;
  external: number;
}

/** A module that the server loads, because only the process itself can measure its heap. */
const sampler = `data:text/javascript,${encodeURIComponent(`
  setInterval(() => {
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ type: "memory", heapUsed, external });
  }, 100).unref();`)}`;

/**
 * Fills the memory of a server from one workspace, in three parts. Returns false if the server
 * exited, if invokes of the other workspace failed, or if none of the large outputs was accepted:
 * the memory was then not filled.
 *
 * @param log receives a line of figures for each part.
 */
export async function fillMemory(log: (line: string) => void): Promise<boolean> {
  const guard = startGuard();
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-memory-"));
  guard.watch(dataDir);
  const embedded = await startEmbedded({ dataDir, log: createLog("silent") });
  if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
  const database = connect({
    url: embedded.url,
    poolSize: 2,
    role: undefined,
    log: createLog("silent"),
  });
  const models = await startModels();
  const { child, url, key, peak } = await startServer(embedded.url, models.port);
  try {
    const greedy = caller(url, key);
    const other = caller(url, await insertStranger({ db: { database } }));
    const agent = await greedy.agentOf(models.port);
    const echo = (await other.call("/agents", { name: "Other", model: "demo/echo" })).body.data;
    let held = true;

    const part = async (name: string, act: () => Promise<string>) => {
      peak.heap = 0;
      peak.external = 0;
      let over = false;
      const acting = act().finally(() => {
        over = true;
      });
      const latencies: number[] = [];
      let rejected = 0;
      let failed = 0;
      /** Invokes the agent. After a 503 it repeats the request a second later, up to two times. */
      const invoke = async (tries = 3): Promise<boolean> => {
        const { status, body } = await caller(url, echo.token).call(`/agents/${echo.id}/invoke`, {
          input: "hello",
        });
        if (status !== 503 || tries === 1) return status === 200 && body.output === "hello";
        rejected++;
        await delay(1_000);
        return invoke(tries - 1);
      };
      const calling = Array.from({ length: callers }, async () => {
        while (!over || latencies.length < invokes) {
          const began = performance.now();
          if (!(await invoke())) failed++;
          latencies.push(performance.now() - began);
          if (child.exitCode !== null || child.signalCode !== null) return;
        }
      });
      const [outcome] = await Promise.all([acting, ...calling]);
      const lives = child.exitCode === null && child.signalCode === null;
      held &&= lives && failed === 0;
      latencies.sort((a, b) => a - b);
      const at = (share: number) =>
        `${latencies[Math.floor((latencies.length - 1) * share)]?.toFixed(0)} ms`;
      log(
        `memory, ${name}: ${outcome}; the other workspace: ${latencies.length} invokes, ${failed} failed, ${rejected} answered with 503 at first, p50 ${at(0.5)}, p99 ${at(0.99)}, ` +
          `longest ${at(1)}; the server ${lives ? "lives" : "died"}, heap ${mib(peak.heap)}, buffers ${mib(peak.external)}, ` +
          `resident ${mib(residentPeak(child))} at most`,
      );
    };
    const statuses = async () => {
      const { rows } = await database.engine.query<{ text: string }>(
        `select count(*) || ' ' || r.status || coalesce(' ' || e.error_code, '') as text from runs r left join run_results e on e.run_id = r.id
          where r.agent_id = $1 group by r.status, e.error_code order by 1`,
        [agent.id],
      );
      return rows.map(({ text }) => text).join(", ");
    };

    await part(`${heldRuns} runs that stream ${heldBytes / 1e6} MB and hold`, async () => {
      await Promise.all(
        Array.from({ length: heldRuns }, () => greedy.call(agent.triggerUrl, "held")),
      );
      await eventually(
        "that all runs hold, wait or have failed",
        async () => (await models.isQuiet()) || undefined,
        300_000,
      );
      const streamed = await models.streamedRuns();
      held &&= streamed > 0;
      return `${streamed} streamed all of it; ${await statuses()}`;
    });
    await models.letGo();
    await eventually(
      "the end of these runs",
      async () => !/running|queued/.test(await statuses()) || undefined,
      600_000,
    );

    await part(`${largeRuns} runs with ${largeBytes / 1e6} MB of output`, async () => {
      const answers = await Promise.all(
        Array.from({ length: largeRuns }, () =>
          caller(url, agent.token).call(`/agents/${agent.id}/invoke`, { input: "large" }),
        ),
      );
      held &&= answers.some(({ status }) => status === 200);
      return counted(answers.map(({ status, body }) => `${status} ${body.code ?? "ok"}`));
    });

    await part(`${bodies} bodies of 1 MiB`, async () => {
      const input = "x".repeat(1_040_000);
      // A client that keeps sending after the server has rejected its request can lose the
      // connection before it reads the response.
      const send = () =>
        greedy
          .call(agent.triggerUrl, `echo ${input}`)
          .catch(() => ({ status: 0, body: { code: "disconnected" } }));
      const answers = await Promise.all(Array.from({ length: bodies }, send));
      return counted(answers.map(({ status, body }) => `${status} ${body.code ?? "ok"}`));
    });
    return held;
  } finally {
    child.kill("SIGKILL");
    await models.close();
    await database.close();
    await embedded.stop();
    await guard.release();
  }
}

const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;

function counted(texts: readonly string[]): string {
  return [...Map.groupBy(texts, (text) => text)]
    .map(([text, { length }]) => `${length} × ${text}`)
    .join(", ");
}

function residentPeak({ pid }: ChildProcess): number {
  try {
    return (
      Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024
    );
  } catch {
    return Number.NaN;
  }
}

function caller(url: string, credential: string) {
  // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape
  const call = async (path: string, body: unknown): Promise<{ status: number; body: any }> => {
    const response = await fetch(path.startsWith("http") ? path : `${url}/api/public${path}`, {
      method: "POST",
      headers: {
        "x-api-key": credential,
        "content-type": typeof body === "string" ? "text/plain" : "application/json",
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    call,
    /** Creates an agent with the hostile model, and its trigger. */
    async agentOf(port: number): Promise<{ id: string; token: string; triggerUrl: string }> {
      await call("/providers", {
        name: "hostile",
        kind: "openai-compatible",
        base_url: `http://127.0.0.1:${port}/v1`,
      });
      const limits = { max_answer_bytes: 32 * 1024 * 1024, timeout_seconds: 3_600 };
      const agent = (
        await call("/agents", {
          name: "Greedy",
          model: "hostile/model",
          model_settings: { stream: "always" },
          limits,
        })
      ).body.data;
      const trigger = (await call(`/agents/${agent.id}/triggers`, { name: "Greedy" })).body.data;
      return { id: agent.id, token: agent.token, triggerUrl: trigger.url };
    },
  };
}

const frame = (text: string, finish: string | null = null) =>
  Buffer.from(
    `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: finish, delta: { content: text } }] })}\n\n`,
  );

/** Starts the thread that serves the models. */
async function startModels() {
  const worker = new Worker(new URL(import.meta.url));
  const ask = async (question: string): Promise<unknown> => {
    worker.postMessage(question);
    return (await once(worker, "message"))[0];
  };
  const [port] = (await once(worker, "message")) as [number];
  return {
    port,
    isQuiet: async () => (await ask("quiet")) === true,
    /** Returns to how many runs the model has streamed `heldBytes`. */
    streamedRuns: async () => Number(await ask("streamed runs")),
    letGo: () => ask("let go"),
    close: () => worker.terminate(),
  };
}

/**
 * Serves the hostile model. For the input `held` it streams `heldBytes` and then waits for `letGo`;
 * for `large` it streams `largeBytes`.
 */
async function serveModels() {
  const gate = Promise.withResolvers<void>();
  const piece = frame("x".repeat(50_000));
  let lastSent = performance.now();
  let streamedRuns = 0;
  async function say(response: ServerResponse, bytes: number): Promise<void> {
    for (let sent = 0; sent < bytes && !response.destroyed; sent += 50_000) {
      lastSent = performance.now();
      if (response.write(piece)) continue;
      await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      response.removeAllListeners("drain").removeAllListeners("close");
    }
  }
  const server: Server = createServer(async (incoming, response) => {
    let text = "";
    for await (const chunk of incoming) text = (text + chunk).slice(0, 10_000);
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (text.includes('"held"')) {
      await say(response, heldBytes);
      if (!response.destroyed) streamedRuns += 1;
      // Comments in the event stream keep the connection from timing out.
      const beat = setInterval(() => response.write(":\n\n"), 10_000);
      await Promise.race([gate.promise, once(response, "close")]);
      clearInterval(beat);
    } else if (text.includes('"large"')) await say(response, largeBytes);
    response.write(frame("", "stop"));
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  parentPort?.postMessage((server.address() as AddressInfo).port);
  parentPort?.on("message", (question: string) => {
    if (question === "let go") gate.resolve();
    // If nothing was sent for 5 seconds, every model call has ended or waits for `letGo`.
    const isQuiet = performance.now() - lastSent > 5_000;
    parentPort?.postMessage(question === "streamed runs" ? streamedRuns : isQuiet);
  });
}

/** Starts a server as the supervisor does. */
async function startServer(databaseUrl: string, modelPort: number) {
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const peak: Peak = { heap: 0, external: 0 };
  const child = fork(
    fileURLToPath(new URL("../../src/main.ts", import.meta.url)),
    ["--exited=all"],
    {
      env: {
        ...process.env,
        PORT: "0",
        LOG_LEVEL: "error",
        DATABASE_URL: databaseUrl,
        BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
        BECKON_BOOTSTRAP_KEY: key,
        BECKON_EGRESS_ALLOW: `127.0.0.1:${modelPort}`,
      },
      execArgv: [...process.execArgv, ...heapFlags(1, ""), ...serverFlags, `--import=${sampler}`],
    },
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.on("exit", (code, signal) => reject(new Error(`the server exited: ${code ?? signal}`)));
    child.on("message", (message: { type: string; heapUsed: number; external: number }) => {
      if (message.type === "memory") {
        peak.heap = Math.max(peak.heap, message.heapUsed);
        peak.external = Math.max(peak.external, message.external);
      }
      const ready = parseFromServer(message);
      if (ready?.type === "ready") resolve(ready.url);
    });
  });
  return { child, url, key, peak };
}

if (!isMainThread) await serveModels();
else if (import.meta.main) {
  // At its end, `fillMemory` waits for a child process that removes its files. That process does
  // not keep the event loop alive, so this timer does.
  const waiting = setInterval(() => {}, 1_000);
  process.exitCode = (await fillMemory((line) => console.log(line)).finally(() =>
    clearInterval(waiting),
  ))
    ? 0
    : 1;
}
