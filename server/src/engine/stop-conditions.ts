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

/** Looks at an answered step and says how it ends the run, or undefined when it does not. */
type StopCondition = (step: Step, rules: StopRules) => Ending | undefined;

const filtered: StopCondition = (step) =>
  step.finish_reason === "content_filter"
    ? failed("The provider's content filter stopped the model's answer.")
    : undefined;

const endedStrangely: StopCondition = (step) =>
  step.finish_reason === "other"
    ? failed(
        "The model ended its answer for a reason that Beckon does not know, so it may not be whole.",
      )
    : undefined;

/**
 * A cut answer is a success only for an agent that set `max_output_tokens`: it asked for the cut. Anywhere else a hidden cut
 * would be half a text passed off as the whole. A cut inside tool calls is never carried on: one of them may be missing.
 */
const cutShort: StopCondition = (step, { settings }) => {
  if (step.finish_reason !== "length") return undefined;
  if (callsOf(step).length > 0)
    return failed(
      "The model reached its output limit while it was calling tools. Raise max_output_tokens.",
    );
  if (settings.max_output_tokens === undefined) {
    return failed(
      "The model reached its output limit before its answer was whole. Set max_output_tokens to accept cut answers.",
    );
  }
  return textOf(step).trim() === ""
    ? failed("The model used up max_output_tokens before it wrote any text. Raise it.")
    : undefined;
};

/** An empty text under `stop` is an answer too: after a tool call there may be nothing left to say. */
const answered: StopCondition = (step) =>
  callsOf(step).length === 0 ? { status: "succeeded", output: textOf(step) } : undefined;

/** The calls of the last permitted step are not made: no model would read their results. */
const outOfSteps: StopCondition = (step, { maxSteps }) =>
  step.step >= maxSteps
    ? {
        status: "failed",
        error: {
          code: "step_limit",
          message: `The agent used all of its ${maxSteps} steps and still wanted to call tools.`,
        },
      }
    : undefined;

/** In order: the first that has something to say decides. */
const stopConditions: readonly StopCondition[] = [
  filtered,
  endedStrangely,
  cutShort,
  answered,
  outOfSteps,
];

/** How `step` ends the run; undefined: its tools are called and the model is asked again. */
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
