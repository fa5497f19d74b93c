import type { NewEvent } from "@beckon/contract";
import {
  type CallPart,
  callsOf,
  intendedCalls,
  resultsByCall,
  type Step,
  type ToolResult,
} from "../history.ts";
import type { Tool } from "../tool.ts";
import { parseArguments } from "./parse-arguments.ts";

/** Calls of one step that are made; further ones are refused. */
const maxCalls = 64;

/** A call that is to be made now. Its intent is durable, or stands in the plan's `entries`. */
export interface PlannedCall {
  readonly step: number;
  readonly callId: string;
  readonly tool: Tool;
  readonly args: unknown;
  readonly idempotencyKey: string;
}

export interface CallPlan {
  /** To be made durable before any call: intents, refusals, and calls whose outcome is lost. In the order of the calls. */
  readonly entries: readonly NewEvent[];
  readonly calls: readonly PlannedCall[];
}

/**
 * What is left to do for a step's calls. Holds for a fresh step and for one found in the journal of a lost process alike:
 *
 * - a call with a result is settled;
 * - a call with an intent and no result may have happened: made again with the same key if its tool is safe to repeat,
 *   otherwise the model is told that its outcome is unknown;
 * - a call without an intent was never made: refused, or intended and made. A refusal has no intent, since nothing will
 *   happen.
 */
export function planCalls(
  runId: string,
  step: Step,
  tools: readonly Tool[],
  journaled: readonly NewEvent[],
): CallPlan {
  const results = resultsByCall(journaled);
  const intended = intendedCalls(journaled);
  const made = callsOfBudgets(tools, journaled);
  const entries: NewEvent[] = [];
  const calls: PlannedCall[] = [];

  for (const [position, part] of callsOf(step).entries()) {
    if (results.has(part.call_id)) continue;
    const begun = intended.has(part.call_id);
    const judged = begun
      ? judge(part, position, tools)
      : withinBudget(judge(part, position, tools), made, tools);

    if ("refusal" in judged && !begun) entries.push(result(step, part, "refused", judged.refusal));
    else if ("refusal" in judged || (begun && !judged.tool.safeToRepeat))
      entries.push(result(step, part, "unknown", outcomeUnknown));
    else {
      const { tool, args } = judged;
      const idempotencyKey = `${runId}:${part.call_id}`;
      calls.push({ step: step.step, callId: part.call_id, tool, args, idempotencyKey });
      if (!begun) {
        if (tool.budget !== undefined)
          made.set(tool.budget.name, (made.get(tool.budget.name) ?? 0) + 1);
        const data = {
          step: step.step,
          call_id: part.call_id,
          tool: tool.name,
          arguments: args,
          idempotency_key: idempotencyKey,
        };
        entries.push({ type: "run.tool_call", data });
      }
    }
  }
  return { entries, calls };
}

const outcomeUnknown =
  "The outcome of this call is unknown: it was begun, and its answer was lost. It may or may not have taken effect; check before you repeat it.";

type Judgement = { readonly tool: Tool; readonly args: unknown } | { readonly refusal: string };

function judge(part: CallPart, position: number, tools: readonly Tool[]): Judgement {
  if (position >= maxCalls)
    return refuse(`At most ${maxCalls} tool calls in one step are made; this one was not.`, tools);

  const tool = tools.find(({ name }) => name === part.tool);
  if (tool === undefined)
    return refuse(`There is no tool named ${JSON.stringify(part.tool.slice(0, 100))}.`, tools);

  const parsed = parseArguments(part.arguments);
  if (!parsed.ok) return refuse(`The arguments of ${tool.name} are not JSON.`, tools);

  // Which text the model means cannot be known, so nothing is called with another one.
  const unstorable =
    parsed.unstorable &&
    `${parsed.unstorable} holds NUL or half of a surrogate pair; write it without`;
  const misfit = unstorable ?? misfitOf(tool, parsed.value);
  if (misfit !== undefined)
    return refuse(`The arguments of ${tool.name} do not fit: ${misfit}.`, tools);
  return { tool, args: parsed.value };
}

/** Calls that the run has begun, by the name of their tools' budget. Counted in the journal, so that a crash forgets none. */
function callsOfBudgets(
  tools: readonly Tool[],
  journaled: readonly NewEvent[],
): Map<string, number> {
  const budgets = new Map(
    tools.flatMap(({ name, budget }) => (budget === undefined ? [] : [[name, budget.name]])),
  );
  const made = new Map<string, number>();
  if (budgets.size === 0) return made;
  for (const entry of journaled) {
    const budget = entry.type === "run.tool_call" ? budgets.get(entry.data.tool) : undefined;
    if (budget !== undefined) made.set(budget, (made.get(budget) ?? 0) + 1);
  }
  return made;
}

function withinBudget(
  judged: Judgement,
  made: ReadonlyMap<string, number>,
  tools: readonly Tool[],
): Judgement {
  if ("refusal" in judged || judged.tool.budget === undefined) return judged;
  const { name, calls } = judged.tool.budget;
  if ((made.get(name) ?? 0) < calls) return judged;
  return refuse(`At most ${calls} calls of ${name} are made in one run; this one was not.`, tools);
}

/** A check that fails itself refuses the call: nothing has been done yet, and the run is not to fail for a tool. */
function misfitOf(tool: Tool, args: unknown): string | undefined {
  try {
    return tool.check?.(args);
  } catch {
    return "they could not be checked";
  }
}

function refuse(reason: string, tools: readonly Tool[]): Judgement {
  const names = tools.map(({ name }) => name).join(", ");
  return {
    refusal: `${reason} ${names === "" ? "This agent has no tools." : `The tools there are: ${names}.`}`,
  };
}

function result(
  step: Step,
  part: CallPart,
  outcome: ToolResult["outcome"],
  text: string,
): NewEvent {
  return {
    type: "run.tool_result",
    data: {
      step: step.step,
      call_id: part.call_id,
      tool: part.tool,
      outcome,
      result: text,
      duration_ms: 0,
    },
  };
}
