import type { LimitReached, ModelSettings, RunError } from "@beckon/contract";
import { type ChosenBound, explainBound } from "./call-limit.ts";
import { callsOf, type Step } from "./history.ts";

/** How a run ends, without its usage and cost, which are added when the end is written. */
export type Ending =
  | { readonly status: "succeeded"; readonly output: string }
  | {
      readonly status: "failed" | "cancelled";
      readonly error: RunError;
      /** Set only for a run that failed because of a limit. */
      readonly limit?: LimitReached;
      /** See `Outcome`. */
      readonly logMessage?: string;
    };

export interface StopRules {
  readonly maxSteps: number;
  /** The run's answered steps before the one that is checked, in order, possibly with it. */
  readonly steps: readonly Step[];
  readonly settings: ModelSettings;
  /**
   * The output bound that truncated the answer, if Beckon chose it. Undefined also after a
   * failover, because the journal does not contain it.
   */
  readonly reachedBound?: ChosenBound | undefined;
  /** See `Answer`. Undefined also after a failover, because the journal does not contain it. */
  readonly unknownReason?: string | undefined;
}

/** Returns how an answered step ends the run; undefined if this condition does not end it. */
type StopCondition = (step: Step, rules: StopRules) => Ending | undefined;

const contentFiltered: StopCondition = (step) =>
  step.finish_reason === "content_filter"
    ? failed("The provider's content filter stopped the model's answer.")
    : undefined;

const unknownFinishReason: StopCondition = (step, { unknownReason }) => {
  if (step.finish_reason !== "other") return undefined;
  const reason =
    unknownReason === undefined
      ? "an unknown finish reason"
      : `the unknown finish reason "${unknownReason}"`;
  return failed(`The model ended its answer with ${reason}, so the answer may be incomplete.`);
};

/** Servers such as Ollama report a context that is full as an output limit that is reached. */
const contextHint =
  " If you run the model server, its context can also be too short: raise it (for Ollama, OLLAMA_CONTEXT_LENGTH).";

/**
 * Handles an answer that was truncated at the output limit. The run fails if the answer has tool
 * calls, because some calls may be missing. Otherwise the answer is accepted if it has text and the
 * agent has set `max_output_tokens`, because the agent then wants long answers truncated.
 */
const outputLimitReached: StopCondition = (step, { settings, reachedBound }) => {
  if (step.finish_reason !== "length") return undefined;
  const chosen =
    reachedBound === undefined
      ? contextHint
      : ` ${explainBound(reachedBound)} For longer answers, raise limits.reserve_output_tokens of the agent or set a higher max_output_tokens.`;
  if (callsOf(step).length > 0)
    return failed(
      `The model reached its output limit while it was calling tools.${reachedBound === undefined ? " Raise max_output_tokens." : ""}${chosen}`,
    );
  if (settings.max_output_tokens === undefined)
    return failed(
      `The model reached its output limit before its answer was complete. Set max_output_tokens to accept truncated answers.${chosen}`,
    );
  return textOf(step).trim() === ""
    ? failed(
        `The model used up max_output_tokens before it wrote any text. Raise it.${contextHint}`,
      )
    : undefined;
};

/**
 * Ends the run with success if the answer has no tool calls. The answer's text can be blank,
 * because after a tool call the model may have nothing more to say. The output is then the last
 * text of an earlier step that is not blank: the model may have written its answer together with
 * the call.
 */
const answered: StopCondition = (step, { steps }) => {
  if (callsOf(step).length > 0) return undefined;
  const text = textOf(step);
  if (text.trim() !== "") return { status: "succeeded", output: text };
  const earlier = steps.findLast((each) => textOf(each).trim() !== "");
  return { status: "succeeded", output: earlier === undefined ? text : textOf(earlier) };
};

/**
 * Ends the run at the step limit. The tool calls of the last allowed step are not made, because no
 * model call would read their results.
 */
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

/** The first condition that applies determines how the run ends. */
const stopConditions: readonly StopCondition[] = [
  contentFiltered,
  unknownFinishReason,
  outputLimitReached,
  answered,
  stepLimitReached,
];

/**
 * Returns how `step` ends the run. Returns undefined if the run continues: its tools are called,
 * and then the model is called again.
 */
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
