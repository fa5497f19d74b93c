import type { JSONSchema7 } from "@ai-sdk/provider";
import type { ByteHold } from "../base/byte-budget.ts";

/** What a tool knows of the call that it is to make. */
export interface ToolContext {
  /** The same on every try of one call, also after a crash. Printable ASCII, so that it can travel as a header. */
  readonly idempotencyKey: string;
  /** Aborts when the run stops. The loop does not wait for a tool that ignores it. */
  readonly signal: AbortSignal;
  /** Counts what the tool holds while it reads an answer; undefined: nothing is counted. */
  readonly hold?: ByteHold | undefined;
}

/** Something the model may call. It holds its own limits of time and size. */
export interface Tool {
  /** Unique among the tools of one run: 1 to 64 of `a-z A-Z 0-9 _ -`. */
  readonly name: string;
  /** Tells the model when to use it. */
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: JSONSchema7;
  /** Whether a call whose answer was lost may simply be made again with the same idempotency key. */
  readonly safeToRepeat: boolean;
  /** Bounds the calls of one run: all tools whose budget has this name share it. One more is refused. Default: no bound. */
  readonly budget?: { readonly name: string; readonly calls: number };

  /**
   * Says what is wrong with the arguments, for the model, or undefined when they fit. Asked before the call is journaled,
   * so that arguments which do not fit are refused without an intent. A tool without it judges inside `execute`.
   */
  check?(args: unknown): string | undefined;

  /**
   * Resolves with any JSON value. It throws `ToolFailure` to tell the model what went wrong; anything else it throws is
   * told to the model as an internal error without its text, which may hold a secret.
   */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** A failure that the model may read and act upon. The message must hold no secret. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}
