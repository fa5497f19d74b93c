import { raceSignal } from "../../base/abort.ts";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { heldBytesOf } from "../held-bytes.ts";
import type { ToolResult } from "../history.ts";
import { memoryIsUsedUp } from "../model-call/index.ts";
import { storableText } from "../storable.ts";
import { ToolFailure } from "../tool.ts";
import { fitResult } from "./fit-result.ts";
import type { PlannedCall } from "./plan-calls.ts";

/**
 * Makes one call and says how it went. What the tool throws is a result for the model, never a failure of the run.
 *
 * @throws the signal's reason, at once when it aborts: the outcome is then unknown.
 */
export async function callTool(
  { step, callId, tool, args, idempotencyKey }: PlannedCall,
  signal: AbortSignal,
  hold?: ByteHold,
): Promise<ToolResult> {
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
    const result = fitResult(
      await raceSignal(execute(tool, args, { idempotencyKey, signal, hold }), signal),
    );
    if (hold?.grow(heldBytesOf(result, 1)) === false)
      throw new ToolFailure(resultLeftOut(tool, hold));
    return told("ok", result);
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return told(
      "error",
      thrown instanceof ToolFailure
        ? storableText(thrown.message)
        : `${tool.name} failed with an internal error.`,
    );
  }
}

function resultLeftOut(tool: PlannedCall["tool"], { maxBytes }: ByteHold): string {
  return `The result of ${tool.name} was left out: ${memoryIsUsedUp(maxBytes)} The call was made and may have taken effect.`;
}

/** A tool that throws before its first await is treated like one that rejects. */
async function execute(
  tool: PlannedCall["tool"],
  args: unknown,
  context: Parameters<PlannedCall["tool"]["execute"]>[1],
): Promise<unknown> {
  return tool.execute(args, context);
}
