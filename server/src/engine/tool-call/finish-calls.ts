import type { NewEvent } from "@beckon/contract";
import { linkAbort } from "../../base/abort.ts";
import { heldBytesOf } from "../held-bytes.ts";
import type { Step } from "../history.ts";
import { noMemory } from "../model-call/index.ts";
import type { RunRecorder } from "../run-recorder.ts";
import type { RunRequest } from "../run-request.ts";
import { callTool } from "./call-tool.ts";
import { planCalls } from "./plan-calls.ts";

/** Tool calls of one step in flight at once. */
const maxConcurrentCalls = 8;

/**
 * Executes the remaining tool calls of a step and makes their results durable.
 *
 * @param unwritten the step's own event if it is not journaled yet: it and the intents are one
 *   durable write, before any tool is called.
 * @throws {RunStopped} or the signal's reason, without waiting for tools. Calls without a result
 *   stay open.
 */
export async function finishCalls(
  request: RunRequest,
  recorder: RunRecorder,
  step: Step,
  unwritten: readonly NewEvent[],
): Promise<void> {
  const { entries, calls } = planCalls(request.runId, step, request.tools, recorder.entries);
  // Parsed arguments take memory too, in the journal and in each later prompt.
  if (entries.length > 0 && request.hold?.grow(heldBytesOf(entries, 1)) === false) {
    recorder.defer(unwritten);
    throw noMemory(request.hold);
  }
  if (unwritten.length + entries.length > 0) await recorder.append([...unwritten, ...entries]);
  if (calls.length === 0) return;

  const { controller: stop, release } = linkAbort(request.signal);

  const remaining = calls.values();
  const work = async () => {
    for (const call of remaining) {
      const data = await callTool(call, stop.signal, request.hold);
      await recorder.append([{ type: "run.tool_result", data }]);
    }
  };
  const workers = Array.from({ length: Math.min(maxConcurrentCalls, calls.length) }, () =>
    work().catch((thrown) => {
      // The first failure stops the others. All are awaited, so that none writes after the run has
      // ended.
      stop.abort(thrown);
      throw thrown;
    }),
  );
  const outcomes = await Promise.allSettled(workers);
  release();
  for (const worker of outcomes) if (worker.status === "rejected") throw stop.signal.reason;
}
