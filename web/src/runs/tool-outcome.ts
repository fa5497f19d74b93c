/** The outcome of a tool call in words. */
interface ToolOutcome {
  /** One or two words, the same on all screens. */
  readonly word: string;
  /** An explanation; undefined if the result explains it. */
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

/**
 * Returns the words for an outcome in the journal. An outcome that only later versions of Beckon
 * write is shown unchanged.
 */
export function toolOutcomeOf(outcome: string): ToolOutcome {
  return (Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined) ?? { word: outcome };
}

/** The outcome of a call that was made and has no result, although its run has ended. */
export const unansweredCall: ToolOutcome = {
  word: "Outcome unknown",
  meaning: "The run ended before the tool responded. The call may or may not have taken effect.",
};

/** The outcome of a call that the model requested and that was not made before the run ended. */
export const unmadeCall: ToolOutcome = {
  word: "Not called",
  meaning: "The run ended before its turn.",
};

/**
 * Returns why a call was rejected; undefined if the result is not text. The result is the text that
 * the model got: the reason, followed by the names of the available tools.
 */
export function rejectionReason(result: unknown): string | undefined {
  if (typeof result !== "string") return undefined;
  return result.replace(/ (Available tools: .*|This agent has no tools\.)$/s, "");
}
