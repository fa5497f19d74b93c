import type { ModelSettings, RunError } from "@beckon/contract";
import { callsOf, type Step } from "./history.ts";

/** How the loop ends, before usage and cost are known. */
export type Ending =
  | { readonly status: "succeeded"; readonly output: string }
  | { readonly status: "failed" | "cancelled"; readonly error: RunError };

export interface StopRules {
  readonly maxSteps: number;
  readonly settings: ModelSettings;
}

/** Returns how an answered step ends the run, or undefined if it does not. */
type StopCondition = (step: Step, rules: StopRules) => Ending | undefined;

const contentFiltered: StopCondition = (step) =>
  step.finish_reason === "content_filter"
    ? failed("The provider's content filter stopped the model's answer.")
    : undefined;

const unknownFinishReason: StopCondition = (step) =>
  step.finish_reason === "other"
    ? failed(
        "The model ended its answer with an unknown finish reason, so the answer may be incomplete.",
      )
    : undefined;

/**
 * A truncated answer is a success only if the agent set `max_output_tokens`: then truncation was
 * requested. Truncated tool calls always fail, because some may be missing.
 */
const outputLimitReached: StopCondition = (step, { settings }) => {
  if (step.finish_reason !== "length") return undefined;
  if (callsOf(step).length > 0)
    return failed(
      "The model reached its output limit while it was calling tools. Raise max_output_tokens.",
    );
  if (settings.max_output_tokens === undefined) {
    return failed(
      "The model reached its output limit before its answer was complete. Set max_output_tokens to accept truncated answers.",
    );
  }
  return textOf(step).trim() === ""
    ? failed("The model used up max_output_tokens before it wrote any text. Raise it.")
    : undefined;
};

/** Empty text with `stop` is an answer too: after a tool call there may be nothing left to say. */
const answered: StopCondition = (step) =>
  callsOf(step).length === 0 ? { status: "succeeded", output: textOf(step) } : undefined;

/** The calls of the last allowed step are not made: no model call would read their results. */
const stepLimitReached: StopCondition = (step, { maxSteps }) =>
  step.step >= maxSteps
    ? {
        status: "failed",
        error: {
          code: "step_limit",
          message: `The agent used all of its ${maxSteps} steps and still wanted to call tools.`,
        },
      }
    : undefined;

/** In order of precedence. */
const stopConditions: readonly StopCondition[] = [
  contentFiltered,
  unknownFinishReason,
  outputLimitReached,
  answered,
  stepLimitReached,
];

/** Returns how `step` ends the run. Undefined: call its tools, then the model again. */
export function endingAfter(step: Step, rules: StopRules): Ending | undefined {
  for (const condition of stopConditions) {
    const ending = condition(step, rules);
    if (ending !== undefined) return ending;
  }
  return undefined;
}

function textOf(step: Step): string {
  return step.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function failed(message: string): Ending {
  return { status: "failed", error: { code: "model_error", message } };
}
