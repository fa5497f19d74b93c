import { isFinalEvent, type WatchedEvent } from "@beckon/client";

/** The output of the current model call so far. The journal does not contain it yet. */
export interface ModelOutput {
  readonly step: number;
  /** Counts from 1 within the step. */
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  /** Why the attempt failed; undefined if it has not. Another attempt follows. */
  readonly error?: string | undefined;
}

/**
 * Returns why the model has not answered yet, if an attempt has failed and the next one has not
 * begun. Else undefined.
 */
export function failedAttemptText({ attempt, error }: ModelOutput): string | undefined {
  return error === undefined
    ? undefined
    : `Attempt ${attempt} failed, and the model is called again later: ${error}`;
}

/**
 * Returns the output of the current model call after an event of the run's stream; undefined after
 * a journal entry that ends the call: the whole output is then in the journal or lost.
 */
export function applyOutput(
  output: ModelOutput | undefined,
  event: WatchedEvent,
): ModelOutput | undefined {
  switch (event.type) {
    case "run.output.start":
      return { ...event.data, text: "", reasoning: "" };
    case "run.output.delta": {
      // Without `run.output.start`, the beginning of the output is missing, so the rest is not
      // shown.
      if (output?.step !== event.data.step) return output;
      const { kind, text } = event.data;
      return { ...output, [kind]: output[kind] + text };
    }
    case "run.output.end":
      return output?.step === event.data.step ? { ...output, error: event.data.error } : output;
    default:
      return endsCall.has(event.type) || isFinalEvent(event) ? undefined : output;
  }
}

/** Besides the final event of a run, the events that end a model call. */
const endsCall: ReadonlySet<string> = new Set(["run.step", "run.step_lost", "run.resumed"]);
