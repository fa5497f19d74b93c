import type { Said, SaidError } from "./said.ts";

/** A request's body as JSON; each format looks into it by its own rules. */
export type WireBody = Readonly<Record<string, unknown>>;

/** One way in which models and their callers speak over HTTP. */
export interface Wire {
  readonly name: string;
  /** The path below the base URL. */
  path(model: string, streamed: boolean): string;
  matches(path: string): boolean;
  streamed(path: string, body: WireBody): boolean;
  /** Text of the last thing a user said in the request. */
  lastInput(body: WireBody): string;
  /** The body of a plain answer. */
  plain(said: Said, model: string): unknown;
  /** The events of a streamed answer, in order; a string stands for itself. The last `closing` of them make it whole. */
  stream(
    said: Said,
    model: string,
  ): { readonly events: readonly unknown[]; readonly closing: number };
  /** The body of a refusal. */
  refusal(status: number, message: string): unknown;
  /** An error in band: the plain body, or an event of the stream. */
  inBand(error: SaidError, streamed: boolean): unknown;
}
