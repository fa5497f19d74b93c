import type { NewEvent } from "@beckon/contract";
import { linkAbort } from "../../base/abort.ts";
import { heldBytesOf } from "../held-bytes.ts";
import type { Step } from "../history.ts";
import { noMemory } from "../model-call/index.ts";
import type { RunRecorder } from "../run-recorder.ts";
import type { RunRequest } from "../run-request.ts";
import { callTool } from "./call-tool.ts";
import { planCalls } from "./plan-calls.ts";

/** Maximum number of tool calls of one step that are executed at the same time. */
const maxConcurrentCalls = 8;

/**
 * Executes the remaining tool calls of a step and makes their results durable.
 *
 * @param unwritten contains the step's own event if it is not in the journal yet. Before any tool
 *   is called, one durable write stores this event and the calls' `run.tool_call` events.
 * @throws {RunStopped} or the signal's reason, without waiting for tools. The calls that were not
 *   finished have no result in the journal.
 * @throws {ModelFailure} if no memory is left for the calls.
 */
export async function finishCalls(
  request: RunRequest,
  recorder: RunRecorder,
  step: Step,
  unwritten: readonly NewEvent[],
): Promise<void> {
  const { entries, calls } = planCalls(request.runId, step, request.tools, recorder.entries);
  // Parsed arguments take memory too: they are in the journal and in each later prompt.
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
      const data = await callTool(call, stop.signal, request);
      await recorder.append([{ type: "run.tool_result", data }]);
    }
  };
  const workers = Array.from({ length: Math.min(maxConcurrentCalls, calls.length) }, () =>
    work().catch((thrown) => {
      // The first failure stops the other workers. All workers are awaited, so that none of them
      // writes after the run has ended.
      stop.abort(thrown);
      throw thrown;
    }),
  );
  const outcomes = await Promise.allSettled(workers);
  release();
  for (const worker of outcomes) if (worker.status === "rejected") throw stop.signal.reason;
}
