import { readSync, writeSync } from "node:fs";
import { Script } from "node:vm";
import { encodeFrame, FrameReader } from "../frames.ts";
import type { FromChild, ToChild } from "../messages.ts";
import { mappingEvaluator } from "./evaluate.ts";
import { Failure, messageOf } from "./failure.ts";

/**
 * The process that evaluates filters and templates. It reads requests from standard input and
 * writes results to standard output, one after the other and without an event loop: nothing that a
 * template does can interleave with another evaluation. It exits when its input ends.
 * Arguments: maximum time of a rendering in milliseconds, its maximum memory in LiquidJS' units,
 * and the maximum bytes of a frame.
 */
const [timeoutMs = 0, maxObjects = 0, maxFrameBytes = 0] = process.argv.slice(2).map(Number);

// Terminals and service managers send their signals to all processes, but only the server decides
// when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
// Prevents an evaluation from adding a property to a prototype, which later evaluations would
// inherit.
for (const { prototype } of [Object, Array, String, Number, Boolean, Function, Map, Set])
  Object.preventExtensions(prototype);

const evaluator = mappingEvaluator({ timeoutMs, maxObjects });
const frames = new FrameReader(maxFrameBytes);

function handle(request: ToChild, text: string): FromChild {
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  try {
    if (request.kind === "check") {
      const mistakes = evaluator.check(request);
      return { kind: "checked", ms: ms(), mistakes };
    }
    const payload = { format: request.format, text };
    const mapped = evaluator.evaluate(request, request.variables, payload);
    return { kind: "mapped", ms: ms(), ...mapped };
  } catch (thrown) {
    const part = request.template === null ? "filter" : "template";
    const failure = thrown instanceof Failure ? thrown : new Failure(part, `${messageOf(thrown)}.`);
    return { kind: "failed", ms: ms(), mistake: failure.mistake };
  }
}

function send(result: FromChild): void {
  const frame = encodeFrame(result);
  for (let sent = 0; sent < frame.length; ) sent += writeSync(1, frame, sent);
}

function evaluateReceived(): void {
  for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
    const request: ToChild = JSON.parse(frame.head.toString());
    // The result is sent before the next evaluation starts, because the server measures the time of
    // that evaluation from this result on.
    send(handle(request, frame.body.toString()));
  }
}

/**
 * The server kills this process when an evaluation takes too long. If the server itself was killed,
 * this limit of V8 ends an endless loop. One limit covers all requests that were read together,
 * because setting a limit takes 0.2 ms.
 */
const orphanTimeoutMs = 30_000;
Object.assign(globalThis, { evaluateReceived });
const evaluateWithin = new Script("evaluateReceived()");

// Makes V8 compile the code of the CEL and Liquid packages now. Otherwise the compilation would
// count as time of the first request, which is limited.
evaluator.evaluate(
  {
    filter: "payload.a.exists(x, x > 0) || true",
    template: "{% for x in payload.a %}{{ x | json }}{% endfor %}",
  },
  { headers: {}, query: {}, event: { id: null, type: null }, files: [], received_at: "" },
  { format: "json", text: '{"a":[1,"b",{}]}' },
);
send({ kind: "ready" });

const chunk = Buffer.allocUnsafeSlow(256 * 1024);
for (let size = readSync(0, chunk); size > 0; size = readSync(0, chunk)) {
  frames.push(Buffer.from(chunk.subarray(0, size)));
  evaluateWithin.runInThisContext({ timeout: orphanTimeoutMs });
}
