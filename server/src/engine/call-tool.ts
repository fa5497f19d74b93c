import { elapsed } from "../base/clock.ts";
import { fitResult } from "./fit-result.ts";
import type { ToolResult } from "./history.ts";
import type { PlannedCall } from "./plan-calls.ts";
import { raceSignal } from "./race-signal.ts";
import { storableText } from "./storable.ts";
import { ToolFailure } from "./tool.ts";

/**
 * Makes one call and says how it went. What the tool throws is a result for the model, never a failure of the run.
 *
 * @throws the signal's reason, at once when it aborts: the outcome is then unknown.
 */
export async function callTool({ step, callId, tool, args, idempotencyKey }: PlannedCall, signal: AbortSignal): Promise<ToolResult> {
  signal.throwIfAborted();
  const begun = elapsed();
  const told = (outcome: ToolResult["outcome"], result: unknown): ToolResult => ({
    step,
    call_id: callId,
    tool: tool.name,
    outcome,
    result,
    duration_ms: Math.round(elapsed() - begun),
  });
  try {
    return told("ok", fitResult(await raceSignal(execute(tool, args, { idempotencyKey, signal }), signal)));
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return told("error", thrown instanceof ToolFailure ? storableText(thrown.message) : `${tool.name} failed with an internal error.`);
  }
}

/** A tool that throws before its first await is treated like one that rejects. */
async function execute(tool: PlannedCall["tool"], args: unknown, context: Parameters<PlannedCall["tool"]["execute"]>[1]): Promise<unknown> {
  return tool.execute(args, context);
}
