import { setImmediate } from "node:timers/promises";
import type { NewEvent } from "@beckon/contract";
import { createTurns } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { shorten } from "../../base/shorten.ts";
import {
  type CallPart,
  callsOf,
  intendedCalls,
  openCalls,
  resultsByCall,
  type Step,
  type ToolResult,
} from "../history.ts";
import { closeCalls } from "../lost-run.ts";
import type { Tool } from "../tool.ts";
import { parseArguments } from "./parse-arguments.ts";

/** Maximum number of calls that are executed in one step. Further calls are rejected. */
const maxCalls = 64;

/**
 * Maximum UTF-16 units of the reason why arguments are rejected. A reason can contain names that
 * the model made up, and every later step of the run sends it to the model again.
 */
const maxReasonLength = 4_000;

/**
 * Milliseconds that checks can take before other work of the process continues. The last check can
 * exceed it by its own time.
 */
const maxCheckingMs = 10;

/** Lets calls be checked one after the other, those of each owner in turn. */
const inTurn = createTurns({ max: 1, shareMax: 1 });
let checkingMs = 0;

/** A call to execute. Its intent (`run.tool_call` event) must be durable before it is executed. */
export interface PlannedCall {
  readonly step: number;
  readonly callId: string;
  readonly tool: Tool;
  readonly args: unknown;
  readonly idempotencyKey: string;
  /** The call's intent, one of the plan's `entries`; undefined if it is durable already. */
  readonly intent: NewEvent | undefined;
}

export interface CallPlan {
  /**
   * Events to write: intents, rejections and unknown outcomes, in the order of the calls.
   */
  readonly entries: readonly NewEvent[];
  readonly calls: readonly PlannedCall[];
}

/**
 * Returns what remains to be done for the calls of a step, which may be new or resumed from the
 * journal. An intent is a `run.tool_call` event, which is written before the call is executed.
 *
 * - A call with a result needs nothing.
 * - A call with an intent and without a result may have been executed. It is executed again with
 *   the same idempotency key if its tool is safe to repeat; otherwise it gets a result with the
 *   outcome `unknown`.
 * - A call without an intent was never executed. It is executed or rejected. A rejected call gets a
 *   result and no intent.
 *
 * @param owner the workspace of the run. Owners take turns in checking calls.
 */
export async function planCalls(
  runId: string,
  step: Step,
  tools: readonly Tool[],
  journaled: readonly NewEvent[],
  owner = runId,
): Promise<CallPlan> {
  const results = resultsByCall(journaled);
  const intended = intendedCalls(journaled);
  const callsByBudget = countCallsByBudget(tools, journaled, results);
  const entries: NewEvent[] = [];
  const calls: PlannedCall[] = [];

  for (const [position, part] of callsOf(step).entries()) {
    if (results.has(part.call_id)) continue;
    const isIntended = intended.has(part.call_id);
    const check = () => checkCall(part, position, tools);
    const executable = position < maxCalls ? await checkInTurn(owner, check) : check();
    const checked = isIntended ? executable : withinBudget(executable, callsByBudget, tools);

    if ("error" in checked && !isIntended)
      entries.push(result(step, part, "refused", checked.error));
    else if ("error" in checked || (isIntended && !checked.tool.safeToRepeat))
      entries.push(result(step, part, "unknown", outcomeUnknown));
    else {
      const { tool, args } = checked;
      const idempotencyKey = `${runId}:${part.call_id}`;
      let intent: NewEvent | undefined;
      if (!isIntended) {
        if (tool.budget !== undefined)
          callsByBudget.set(tool.budget.name, (callsByBudget.get(tool.budget.name) ?? 0) + 1);
        const data = {
          step: step.step,
          call_id: part.call_id,
          tool: tool.name,
          arguments: args,
          idempotency_key: idempotencyKey,
        };
        intent = { type: "run.tool_call", data };
        entries.push(intent);
      }
      calls.push({ step: step.step, callId: part.call_id, tool, args, idempotencyKey, intent });
    }
  }
  return { entries, calls };
}

const outcomeUnknown =
  "The outcome of this call is unknown: it may have been started, and it has no result. It may or may not have taken effect. Check before you repeat it.";

/**
 * Returns results for the calls that have an intent and no result, and whose tool is not safe to
 * repeat. The outcome is `refused` for those of `unmade`, and `unknown` for the others. Without
 * these results, `planCalls` of the next owner returns results with the outcome `unknown` for all.
 *
 * @param unmade the ids of calls that were certainly not made.
 */
export function resultsOfRelease(
  tools: readonly Tool[],
  journaled: readonly NewEvent[],
  unmade: ReadonlySet<string>,
): NewEvent[] {
  const isSafe = (name: string) => tools.some((tool) => tool.name === name && tool.safeToRepeat);
  return closeCalls(
    openCalls(journaled).filter(({ tool }) => !isSafe(tool)),
    outcomeUnknown,
    unmade,
  );
}

type CheckedCall = { readonly tool: Tool; readonly args: unknown } | { readonly error: string };

/**
 * Calls `check`, which parses and checks arguments and can block the process for tens of
 * milliseconds. Many runs can have calls to check at the same time. Without turns, all would be
 * checked before the event loop continues, because it calls all pending immediates in a row.
 */
function checkInTurn<T>(owner: string, check: () => T): Promise<T> {
  return inTurn(owner, async () => {
    const startedAt = elapsed();
    const checked = check();
    checkingMs += elapsed() - startedAt;
    if (checkingMs >= maxCheckingMs) {
      await setImmediate();
      checkingMs = 0;
    }
    return checked;
  });
}

function checkCall(part: CallPart, position: number, tools: readonly Tool[]): CheckedCall {
  // This error does not list the names of the tools, because an answer can have a hundred thousand
  // such calls, and the names can have 8,000 characters together.
  if (position >= maxCalls)
    return {
      error: `At most ${maxCalls} tool calls are made in one step. This call was not made.`,
    };

  const tool = tools.find(({ name }) => name === part.tool);
  if (tool === undefined)
    return rejectCall(`There is no tool named ${JSON.stringify(part.tool.slice(0, 100))}.`, tools);

  const parsed = parseArguments(part.arguments);
  if (!parsed.ok) return rejectCall(`The arguments of ${tool.name} ${parsed.mistake}.`, tools);

  // An argument that PostgreSQL cannot store is rejected. The tool is not called with replaced
  // characters, because it is unknown which text the model meant.
  const unstorable =
    parsed.unstorable &&
    `${shorten(parsed.unstorable, maxReasonLength)} contains NUL or a lone surrogate; remove it`;
  const argumentError = unstorable ?? argumentErrorOf(tool, parsed.value);
  if (argumentError !== undefined)
    return rejectCall(`The arguments of ${tool.name} are invalid: ${argumentError}.`, tools);
  return { tool, args: parsed.value };
}

/**
 * Returns for each budget the number of calls that have an intent (`run.tool_call` event). They are
 * counted in the journal, so that calls from before a crash count too. An intent with the outcome
 * `refused` does not count: the run was released before the call was made (`resultsOfRelease`).
 */
function countCallsByBudget(
  tools: readonly Tool[],
  journaled: readonly NewEvent[],
  results: ReadonlyMap<string, ToolResult>,
): Map<string, number> {
  const budgets = new Map(
    tools.flatMap(({ name, budget }) => (budget === undefined ? [] : [[name, budget.name]])),
  );
  const counts = new Map<string, number>();
  if (budgets.size === 0) return counts;
  for (const entry of journaled) {
    if (entry.type !== "run.tool_call") continue;
    const budget = budgets.get(entry.data.tool);
    const isMade = results.get(entry.data.call_id)?.outcome !== "refused";
    if (budget !== undefined && isMade) counts.set(budget, (counts.get(budget) ?? 0) + 1);
  }
  return counts;
}

function withinBudget(
  checked: CheckedCall,
  callsByBudget: ReadonlyMap<string, number>,
  tools: readonly Tool[],
): CheckedCall {
  if ("error" in checked || checked.tool.budget === undefined) return checked;
  const { name, calls } = checked.tool.budget;
  if ((callsByBudget.get(name) ?? 0) < calls) return checked;
  return rejectCall(
    `At most ${calls} calls of ${name} are made in one run. This call was not made.`,
    tools,
  );
}

/**
 * Returns why the tool rejects the arguments; undefined if it accepts them. An error that the tool
 * throws during validation rejects only the call and does not make the run fail, because nothing
 * was executed yet.
 */
function argumentErrorOf(tool: Tool, args: unknown): string | undefined {
  try {
    const reason = tool.check?.(args);
    return reason && shorten(reason, maxReasonLength);
  } catch {
    return "they could not be checked";
  }
}

function rejectCall(reason: string, tools: readonly Tool[]): CheckedCall {
  const names = tools.map(({ name }) => name).join(", ");
  return {
    error: `${reason} ${names === "" ? "This agent has no tools." : `Available tools: ${names}.`}`,
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
