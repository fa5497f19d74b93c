/** What became of a tool call. */
interface ToolOutcome {
  /** In a word or two, the same on all screens. */
  readonly word: string;
  /** What that means; undefined if the result says it. */
  readonly meaning?: string;
}

const outcomes: Readonly<Record<string, ToolOutcome>> = {
  ok: { word: "OK" },
  error: {
    word: "Failed",
    meaning: "The tool was called and failed. The model got the error as the result.",
  },
  refused: {
    word: "Rejected",
    meaning: "The tool was not called. The model got the reason in place of a result.",
  },
  unknown: {
    word: "Outcome unknown",
    meaning:
      "The tool was called, but its response was lost. The tool is not marked as safe to repeat, so it was not called again. Check there, by the idempotency key, whether the call took effect.",
  },
};

/** Returns what an outcome in the journal means. One of a later version is shown as it is. */
export function toolOutcomeOf(outcome: string): ToolOutcome {
  return (Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined) ?? { word: outcome };
}

/** What is known of a call that has no result although its run has ended. */
export const unansweredCall: ToolOutcome = {
  word: "Outcome unknown",
  meaning: "The run ended before the tool responded. The call may or may not have taken effect.",
};

/** A call that the model asked for, before whose turn the run ended. */
export const unmadeCall: ToolOutcome = {
  word: "Not called",
  meaning: "The run ended before its turn.",
};

/**
 * Returns why a call was rejected. Its result is the text that the model got: the reason, and then
 * the tools that there are.
 */
export function rejectionReason(result: unknown): string | undefined {
  if (typeof result !== "string") return undefined;
  return result.replace(/ (Available tools: .*|This agent has no tools\.)$/s, "");
}
