import type { JSONSchema7 } from "@ai-sdk/provider";
import type { ByteHold } from "../base/byte-budget.ts";

/** Context of one tool call. */
export interface ToolContext {
  /**
   * The same key for every attempt of one call, even after a crash. It is printable ASCII and
   * therefore a valid header value.
   */
  readonly idempotencyKey: string;
  /** Aborts when the run stops. The tool should then stop too, but the run does not wait for it. */
  readonly signal: AbortSignal;
  /**
   * Counts the memory of a response while the tool reads it. If it is undefined, memory is not
   * counted.
   */
  readonly memory?: ByteHold | undefined;
  /** Value of the header `traceparent` for requests of the tool; undefined if traces are off. */
  readonly traceparent?: string | undefined;
}

/** A function that the model can call. It enforces its own limits of time and size. */
export interface Tool {
  /**
   * The tool's name, unique among the tools of one run: 1 to 64 characters of `a-z A-Z 0-9 _ -`.
   */
  readonly name: string;
  /** Explains to the model when to use the tool. */
  readonly description: string;
  /** JSON Schema of the arguments. It must describe an object. */
  readonly parameters: JSONSchema7;
  /** Whether a call whose result was lost can be repeated with the same idempotency key. */
  readonly safeToRepeat: boolean;
  /**
   * Limits the number of calls in one run. Tools with the same budget name share the budget. Calls
   * beyond it are rejected. Default: unlimited.
   */
  readonly budget?: { readonly name: string; readonly calls: number };

  /**
   * Returns an explanation for the model if the arguments are invalid; undefined if they are valid.
   * Called before the call's intent (`run.tool_call` event) is written, so that an invalid call has
   * no intent. A tool without `check` validates its arguments in `execute`.
   */
  check?(args: unknown): string | undefined;

  /**
   * Calls the tool and returns its result as a JSON value.
   *
   * @throws {ToolFailure} an error for the model to read. If the tool throws another error, the
   *   model reads only that the tool failed with an internal error, because the error's message may
   *   contain a secret.
   */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** An error that the model reads and can react to. The message must not contain a secret. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}
