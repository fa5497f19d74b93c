import { parseExactly, rawNumber } from "../../src/base/json/index.ts";

/** The output of a model, in any wire format. */
export interface ModelOutput {
  readonly text?: string;
  readonly reasoning?: string;
  /**
   * Signature of the reasoning, or the encrypted reasoning itself. The next request to the model
   * must contain it. Undefined if the model sends none.
   */
  readonly signature?: string;
  readonly calls?: readonly OutputCall[];
  /**
   * Finish reason, in the vocabulary of chat completions; other formats translate it. Default:
   * `tool_calls` if there are calls, otherwise `stop`. Null: none is sent.
   */
  readonly finish?: string | null;
  /** Token usage in the format of chat completions. Default: 10 in, 5 out. Null: none is sent. */
  readonly usage?: OutputUsage | null;
}

export interface OutputCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, possibly invalid. */
  readonly arguments: string;
}

export interface OutputUsage {
  /** Includes cached tokens. */
  readonly prompt_tokens: number;
  /** Includes reasoning. */
  readonly completion_tokens: number;
  readonly total_tokens?: number;
  readonly cached_tokens?: number;
  readonly reasoning_tokens?: number;
}

/** An error of a provider. Each wire format writes these fields in its own form. */
export interface ProviderError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number | null;
}

export const defaultUsage: OutputUsage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
};

/** Returns the finish reason in the vocabulary of chat completions; null if none is sent. */
export function finishOf({ finish, calls = [] }: ModelOutput): string | null {
  return finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : finish;
}

/** Splits a text as models stream it: into words, each with the space before it. */
export function words(whole: string | undefined): readonly string[] {
  if (!whole) return [];
  // The regular expression overflows the stack for one word of some megabytes.
  if (!/\s/.test(whole)) return [whole];
  return whole.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}

/** Splits the arguments of a tool call into two halves, which are streamed one after the other. */
export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Parses JSON without rounding its numbers. Returns the text itself if it is invalid JSON. */
export function parsed(text: string): unknown {
  try {
    return parseExactly(text, rawNumber);
  } catch {
    return text;
  }
}
