import type { JSONSchema7 } from "@ai-sdk/provider";
import type { ByteHold } from "../base/byte-budget.ts";

/** Context of one tool call. */
export interface ToolContext {
  /**
   * The same for every attempt of one call, also after a crash. Printable ASCII, so that it is a
   * valid header value.
   */
  readonly idempotencyKey: string;
  /** Aborts when the run stops. The loop does not wait for a tool that ignores it. */
  readonly signal: AbortSignal;
  /** Counts the memory of a response while the tool reads it. Undefined: no counting. */
  readonly hold?: ByteHold | undefined;
}

/** A function that the model can call. It enforces its own limits of time and size. */
export interface Tool {
  /** Unique among the tools of one run: 1 to 64 characters of `a-z A-Z 0-9 _ -`. */
  readonly name: string;
  /** Explains to the model when to use it. */
  readonly description: string;
  /** JSON Schema of the arguments, which are an object. */
  readonly parameters: JSONSchema7;
  /** Whether a call whose result was lost can be repeated with the same idempotency key. */
  readonly safeToRepeat: boolean;
  /**
   * Limits the calls of one run. Tools with the same budget name share it; further calls are
   * rejected. Default: unlimited.
   */
  readonly budget?: { readonly name: string; readonly calls: number };

  /**
   * Returns, for the model, why the arguments are invalid; undefined if they are valid. Called
   * before the intent is journaled, so that invalid calls have no intent. Tools without it validate
   * in `execute`.
   */
  check?(args: unknown): string | undefined;

  /**
   * Calls the tool and returns its result as a JSON value.
   *
   * @throws {ToolFailure} an error for the model to read. For any other error the model sees only
   *   "internal error", because the message may contain a secret.
   */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** An error that the model reads and can react to. The message must not contain a secret. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}
