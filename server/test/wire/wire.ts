import type { ModelOutput, ProviderError } from "./model-output.ts";

/** A request's body, parsed as JSON. Its fields depend on the wire format. */
export type WireBody = Readonly<Record<string, unknown>>;

/** A wire format in which models are called over HTTP. */
export interface Wire {
  readonly name: string;
  /** Returns the path below the base URL. */
  path(model: string, streamed: boolean): string;
  matches(path: string): boolean;
  streamed(path: string, body: WireBody): boolean;
  /** Returns the text of the last user message of the request. */
  lastInput(body: WireBody): string;
  /** Returns the body of a response that is not streamed. */
  plain(said: ModelOutput, model: string): unknown;
  /**
   * Returns the events of a streamed response, in order. Strings are sent unchanged, and objects as
   * JSON. The last `closing` events complete the response; without them, it is truncated.
   */
  stream(
    said: ModelOutput,
    model: string,
  ): { readonly events: readonly unknown[]; readonly closing: number };
  /** Returns the body of an error status. */
  error(status: number, message: string): unknown;
  /** Returns an error that is sent with status 200: an event if `streamed`, else the body. */
  inBand(error: ProviderError, streamed: boolean): unknown;
}
