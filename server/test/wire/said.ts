/** What a model says, whatever the wire format. */
export interface Said {
  readonly text?: string;
  readonly reasoning?: string;
  /** Proof that the reasoning is the model's own, which it wants back: a signature, or the reasoning itself encrypted. */
  readonly signature?: string;
  readonly calls?: readonly SaidCall[];
  /** In the words of chat completions, translated where another format has its own. Default: `tool_calls` with calls, else `stop`; null: none is sent. */
  readonly finish?: string | null;
  /** In the words of chat completions. Default: 10 in, 5 out; null: none is sent. */
  readonly usage?: SaidUsage | null;
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or not. */
  readonly arguments: string;
}

export interface SaidUsage {
  /** Cached ones included. */
  readonly prompt_tokens: number;
  /** Reasoning included. */
  readonly completion_tokens: number;
  readonly total_tokens?: number;
  readonly cached_tokens?: number;
  readonly reasoning_tokens?: number;
}

/** An error as a provider words it. */
export interface SaidError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number | null;
}

export const defaultUsage: SaidUsage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
};

/** The finish as it is sent, before any translation; null: none. */
export function finishOf({ finish, calls = [] }: Said): string | null {
  return finish === undefined ? (calls.length > 0 ? "tool_calls" : "stop") : finish;
}

/** A text in the pieces in which models stream it: words, each with the space before it. */
export function words(whole: string | undefined): readonly string[] {
  return whole?.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}

/** The two halves in which long arguments are streamed. */
export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
