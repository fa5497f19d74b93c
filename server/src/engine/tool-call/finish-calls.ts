import type { NewEvent } from "@beckon/contract";
import { linkAbort } from "../../base/abort.ts";
import { heldBytesOf } from "../held-bytes.ts";
import type { Step } from "../history.ts";
import { noMemory } from "../model-call/index.ts";
import type { RunRecorder } from "../run-recorder.ts";
import type { RunRequest } from "../run-request.ts";
import { callTool } from "./call-tool.ts";
import { planCalls } from "./plan-calls.ts";

/** Tools of one step that run side by side. */
const sideBySide = 8;

/**
 * Brings every call of a step to a durable result. `unwritten` is the step itself when the journal does not hold it yet:
 * answer and intents are then one write, and no tool begins before it.
 *
 * @throws {RunStopped} or the signal's reason. No tool is waited for any more; calls without a result stay open.
 */
export async function finishCalls(
  request: RunRequest,
  ledger: RunRecorder,
  step: Step,
  unwritten: readonly NewEvent[],
): Promise<void> {
  const { entries, calls } = planCalls(request.runId, step, request.tools, ledger.entries);
  // Arguments are held as values too, by the journal and by each later prompt.
  if (entries.length > 0 && request.hold?.grow(heldBytesOf(entries, 1)) === false) {
    ledger.defer(unwritten);
    throw noMemory(request.hold);
  }
  if (unwritten.length + entries.length > 0) await ledger.append([...unwritten, ...entries]);
  if (calls.length === 0) return;

  const { controller: stop, release } = linkAbort(request.signal);

  const waiting = calls.values();
  const work = async () => {
    for (const call of waiting) {
      const data = await callTool(call, stop.signal, request.hold);
      await ledger.append([{ type: "run.tool_result", data }]);
    }
  };
  const workers = Array.from({ length: Math.min(sideBySide, calls.length) }, () =>
    work().catch((thrown) => {
      // The first to fail stops the others; all are awaited, so that none writes after the run has ended.
      stop.abort(thrown);
      throw thrown;
    }),
  );
  const settled = await Promise.allSettled(workers);
  release();
  for (const worker of settled) if (worker.status === "rejected") throw stop.signal.reason;
}
