import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createLeanFetch } from "../server/src/base/egress/index.ts";
import {
  defaultTimeouts,
  executeRun,
  type Journal,
  openAICompatibleModel,
  unknownPrice,
} from "../server/src/engine/index.ts";
import { toEntry } from "../server/src/runs/journal/journal-entry.ts";

/**
 * Measures how many bytes of memory a run holds per byte of a response, an input or a journal.
 * These are the factors of the byte budget (docs/decisions/0014-a-budget-of-bytes.md). The model
 * server runs in another thread, whose heap is not counted.
 *
 *   script/bench bytes
 */
const runs = 8;
const bytes = 4 * 1024 * 1024;

/** Texts that are repeated to make whole responses. They differ in the memory per character. */
const texts = {
  latin: "abcdefghij",
  wide: "abcdefghi€",
  controls: "\u0001\u0002\u0003\u0004\u0005",
};
/**
 * What the model server sends, by path. Responses with `-held` in their name never end.
 * `words-held` and `letters-held` have only `bytes / 64` chunks, because each chunk takes far more
 * memory than its one or two letters.
 */
const scenes: Record<string, (send: (text: string) => Promise<void>) => Promise<void>> = {
  "plain-held": (send) => repeat(send, "x".repeat(16_384), bytes),
  "line-held": async (send) => {
    await send("data: ");
    await repeat(send, "x".repeat(16_384), bytes);
  },
  "words-held": (send) => repeat(send, frame("ab").repeat(400), (bytes / 64) * frame("ab").length),
  "letters-held": (send) => repeat(send, frame("a").repeat(400), (bytes / 64) * frame("a").length),
  "blocks-held": (send) => repeat(send, frame("a".repeat(16_384)), bytes),
  ...Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      const all = text.repeat(Math.floor(bytes / Buffer.byteLength(text)));
      return [
        [`plain-${name}`, (send: (text: string) => Promise<void>) => send(plain(all))],
        [
          `stream-${name}`,
          async (send: (text: string) => Promise<void>) => {
            for (let at = 0; at < all.length; at += 8_000)
              await send(frame(all.slice(at, at + 8_000)));
            await send(`${frame("", "stop")}data: [DONE]\n\n`);
          },
        ],
      ];
    }),
  ),
};

function plain(text: string): string {
  return JSON.stringify({
    id: "1",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
  });
}

function frame(text: string, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: finish, delta: { content: text } }] })}\n\n`;
}

async function repeat(
  send: (text: string) => Promise<void>,
  piece: string,
  total: number,
): Promise<void> {
  for (let sent = 0; sent < total; sent += piece.length) await send(piece);
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const name = request.url?.split("/")[1] ?? "";
  if (name === "not-reading") return;
  request.resume();
  const streamed = !name.startsWith("plain");
  response.writeHead(200, { "content-type": streamed ? "text/event-stream" : "application/json" });
  await scenes[name]?.(async (text) => {
    if (response.destroyed || response.write(text)) return;
    await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    response.removeAllListeners("drain").removeAllListeners("close");
  });
  parentPort?.postMessage(name);
  if (!name.endsWith("-held")) response.end();
}

if (isMainThread) await measure();
else {
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1", () =>
    parentPort?.postMessage((server.address() as AddressInfo).port),
  );
}

async function measure(): Promise<void> {
  const worker = new Worker(new URL(import.meta.url));
  const [port] = (await once(worker, "message")) as [number];
  const wait = 60_000;
  const transport = createLeanFetch({
    connectTimeoutMs: wait,
    headersTimeoutMs: wait,
    bodyTimeoutMs: wait,
    maxResponseBytes: 2 ** 40,
  });

  /** Returns the bytes of the heap and of buffers that a garbage collection leaves. */
  const alive = () => {
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const report = (what: string, held: number, of: number) =>
    console.log(`${what.padEnd(48)} ${(held / of).toFixed(2).padStart(6)}`);

  /**
   * Executes the runs up to the state `stopAt`, and returns the bytes of memory that they hold in
   * this state. `sent`: the model server has sent its whole text. `written`: each run waits for the
   * write of its last entries. `waiting`: 1.5 seconds have passed.
   */
  async function held(
    scene: string,
    { input = "hello", stopAt }: { input?: string; stopAt: "sent" | "written" | "waiting" },
  ): Promise<number> {
    const stop = new AbortController();
    const written = Promise.withResolvers<void>();
    let sent = 0;
    let ended = 0;
    const allSent = Promise.withResolvers<void>();
    const count = () => ++sent === runs && allSent.resolve();
    worker.on("message", count);
    const before = alive();
    const end = Promise.withResolvers<void>();
    const executing = Array.from({ length: runs }, (_, index) => {
      const kept: unknown[] = [];
      const journal: Journal = {
        events: [],
        append: async () => {},
        async end(outcome, added) {
          // Keeps the entries as JSON text, as the real journal does until a batch writes them.
          const last = {
            type: "run.finished" as const,
            data: {
              output: outcome.status === "succeeded" ? outcome.output : "",
              usage: outcome.usage,
              cost_micros: null,
            },
          };
          kept.push([...added, last].map(toEntry), outcome);
          if (++ended === runs) written.resolve();
          await end.promise;
        },
      };
      return executeRun({
        runId: `run_${index}`,
        input: `${input}${index}`,
        instructions: "",
        modelName: "m/m",
        priceOf: unknownPrice,
        model: openAICompatibleModel({
          name: "m",
          baseUrl: `http://127.0.0.1:${port}/${scene}`,
          modelId: "m",
          transport,
        }),
        settings: {
          stream: scene.startsWith("plain") || scene === "not-reading" ? "never" : "always",
        },
        maxSteps: 1,
        tools: [],
        journal,
        resumed: false,
        signal: stop.signal,
        hasSubscriber: () => false,
        timeouts: defaultTimeouts,
        maxAnswerBytes: 2 ** 40,
      });
    });
    if (stopAt === "written") await written.promise;
    if (stopAt === "sent") await allSent.promise;
    await sleep(stopAt === "written" ? 50 : 1_500);
    const result = alive() - before;
    end.resolve();
    stop.abort();
    await Promise.allSettled(executing);
    worker.off("message", count);
    await sleep(200);
    return result;
  }

  const all = runs * bytes;
  await held("plain-latin", { stopAt: "written" });
  console.log("bytes of memory per byte");
  report("whole: a plain response, incomplete", await held("plain-held", { stopAt: "sent" }), all);
  for (const name of Object.keys(texts))
    report(
      `whole: a plain response, being written, ${name}`,
      await held(`plain-${name}`, { stopAt: "written" }),
      all,
    );
  report("unread: an endless line of a stream", await held("line-held", { stopAt: "sent" }), all);
  report("kept: a stream of 16 KiB chunks", await held("blocks-held", { stopAt: "sent" }), all);
  report(
    "kept: a stream of two letters per chunk",
    await held("words-held", { stopAt: "sent" }),
    // Two letters in each of the `bytes / 64` chunks.
    all / 32,
  );
  report(
    "kept: a stream of one letter per chunk",
    await held("letters-held", { stopAt: "sent" }),
    all / 64,
  );
  for (const name of Object.keys(texts))
    report(
      `kept: a stream, being written, ${name}`,
      await held(`stream-${name}`, { stopAt: "written" }),
      all,
    );
  for (const [name, text] of Object.entries({ latin: texts.latin, wide: texts.wide })) {
    const input = text.repeat(Math.floor(bytes / 4 / text.length));
    report(
      `request: an input that the model server does not read, ${name}`,
      await held("not-reading", { input, stopAt: "waiting" }),
      runs * input.length,
    );
  }
  report(
    "a run without content, in KiB",
    await held("not-reading", { stopAt: "waiting" }),
    runs * 1024,
  );
  const typical = JSON.stringify(
    Array.from({ length: 20_000 }, (_, n) => ({
      step: n,
      tool: "search",
      result: { title: `about ${n}`, score: n / 7 },
    })),
  );
  const empty = `[${"{},".repeat(500_000)}{}]`;
  for (const [name, text] of Object.entries({ typical, empty })) {
    const before = alive();
    const value: unknown = JSON.parse(text);
    report(`parsed JSON, ${name}`, alive() - before, text.length);
    void value;
  }
  await transport.close();
  await worker.terminate();
}
