import type { NewEvent } from "@beckon/contract";
import { linkAbort } from "../../base/abort.ts";
import type { Step } from "../history.ts";
import { heldBytesOf, noMemory } from "../memory.ts";
import type { RunRecorder } from "../run-recorder.ts";
import type { RunRequest } from "../run-request.ts";
import { callTool } from "./call-tool.ts";
import { planCalls } from "./plan-calls.ts";

/** Maximum number of tool calls of one step that are executed at the same time. */
const maxConcurrentCalls = 8;

/**
 * Executes the remaining tool calls of a step and makes their results durable.
 *
 * Before any tool is called, one durable write stores `unwritten` and the intents (`run.tool_call`
 * events) of the first calls. The intent of each further call is written together with the result
 * of the call before it, so that a call that waits when the run is stopped has no intent and is
 * executed when the run is resumed.
 *
 * @param unwritten contains the step's own event if it is not in the journal yet.
 * @throws {RunStopped} or the signal's reason, without waiting for tools. Unfinished calls then
 *   have no result in the journal; `recorder.unmadeCalls` has those that were not made. If the
 *   signal had aborted before the first write, no new intent is written either, so the next owner
 *   of the run executes the calls.
 * @throws {ModelFailure} if no memory is left for the calls.
 */
export async function finishCalls(
  request: RunRequest,
  recorder: RunRecorder,
  step: Step,
  unwritten: readonly NewEvent[],
): Promise<void> {
  const { runId, tools, memory } = request;
  const owner = memory?.owner ?? runId;
  const { entries, calls } = await planCalls(runId, step, tools, recorder.entries, owner);
  if (request.signal.aborted && calls.length > 0) {
    // If the intents were written too, the next owner could not know that no call was made.
    const results = entries.filter(({ type }) => type !== "run.tool_call");
    if (unwritten.length + results.length > 0) await recorder.append([...unwritten, ...results]);
    throw request.signal.reason;
  }
  // Parsed arguments take memory too: they are in the journal and in each later prompt.
  if (entries.length > 0 && memory?.grow(heldBytesOf(entries, 1)) === false) {
    recorder.defer(unwritten);
    throw noMemory("No further tool calls were made", memory);
  }
  const later = new Set(calls.slice(maxConcurrentCalls).map(({ intent }) => intent));
  const first = [...unwritten, ...entries.filter((entry) => !later.has(entry))];
  if (first.length > 0) await recorder.append(first);
  if (calls.length === 0) return;

  const { controller: stop, release } = linkAbort(request.signal);

  const remaining = calls.values();
  const work = async () => {
    let call = remaining.next().value;
    while (call !== undefined) {
      // The process may have read the reply to the intent late, after another one took over.
      const confirming = request.confirmOwner?.();
      if (confirming !== undefined) await confirming;
      // The signal can abort while the intent of the call is written.
      stop.signal.throwIfAborted();
      recorder.beginCall(call.callId);
      const data = await callTool(call, stop.signal, request);
      call = remaining.next().value;
      const intent = stop.signal.aborted ? undefined : call?.intent;
      const written: NewEvent[] = [{ type: "run.tool_result", data }];
      if (intent !== undefined) written.push(intent);
      await recorder.append(written);
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
