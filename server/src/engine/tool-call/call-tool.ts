import { raceSignal } from "../../base/abort.ts";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import type { TraceSpan } from "../../base/tracing/index.ts";
import type { ToolResult } from "../history.ts";
import { RunStopped } from "../journal.ts";
import { heldBytesOf, memoryIsUsedUp } from "../memory.ts";
import { storableText } from "../storable.ts";
import { ToolFailure } from "../tool.ts";
import { fitResult } from "./fit-result.ts";
import type { PlannedCall } from "./plan-calls.ts";

/**
 * Executes one tool call and returns its result. An error of the tool is a result for the model and
 * never makes the run fail.
 *
 * @throws the signal's reason as soon as the signal aborts. It is then unknown whether the call
 *   took effect.
 */
export async function callTool(
  { step, callId, tool, args, idempotencyKey }: PlannedCall,
  signal: AbortSignal,
  {
    memory,
    span: runSpan,
    onToolError,
  }: {
    memory?: ByteHold | undefined;
    span?: TraceSpan | undefined;
    onToolError?: ((thrown: unknown) => void) | undefined;
  } = {},
): Promise<ToolResult> {
  const span = runSpan?.child(`execute_tool ${tool.name}`, "internal", {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool.name,
    "gen_ai.tool.call.id": callId,
    "beckon.step": step,
  });
  const traceparent = span?.traceparent;
  const startedAt = elapsed();
  const toolResult = (outcome: ToolResult["outcome"], result: unknown): ToolResult => ({
    step,
    call_id: callId,
    tool: tool.name,
    outcome,
    result,
    duration_ms: Math.round(elapsed() - startedAt),
  });
  try {
    const context = { idempotencyKey, signal, memory, traceparent };
    const result = fitResult(await raceSignal(tool.execute(args, context), signal));
    if (memory?.grow(heldBytesOf(result, 1)) === false)
      throw new ToolFailure(droppedResult(tool, memory));
    span?.end();
    return toolResult("ok", result);
  } catch (thrown) {
    span?.end(signal.aborted ? stopType(signal.reason) : "tool_failed");
    if (signal.aborted) throw signal.reason;
    if (thrown instanceof ToolFailure) return toolResult("error", storableText(thrown.message));
    onToolError?.(thrown);
    return toolResult("error", `${tool.name} failed with an internal error.`);
  }
}

/** Returns why the run was stopped during the call, as the span attribute `error.type`. */
function stopType(reason: unknown): string {
  return reason instanceof RunStopped ? reason.reason : "interrupted";
}

function droppedResult(tool: PlannedCall["tool"], { maxBytes }: ByteHold): string {
  return `The result of ${tool.name} was dropped: ${memoryIsUsedUp(maxBytes)} The call was made and may have taken effect.`;
}
