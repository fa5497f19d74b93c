import type { TokenUsage } from "@beckon/contract";

/**
 * What is known about one attempt of a model call, even if it fails. This is a class and not an
 * object with closures, because there is one for each attempt and an instance costs less garbage
 * collection (docs/decisions/0012-what-is-brief-dies-young.md).
 */
export class AttemptRecord {
  /** Whether the provider's library made a request. The demo model makes none. */
  isRequested = false;
  /** Whether a connection was open for the request, so that the provider may have received it. */
  isSent = false;
  /** Bytes of the response. */
  receivedBytes = 0;
  /** Bytes of text, reasoning and arguments of tool calls that a streamed response contained. */
  outputBytes = 0;
  /** Usage that a complete response reports; undefined if there is no such response. */
  usage: TokenUsage | undefined;
  /** The model that answered, as the provider names it; undefined if it does not name it. */
  responseModel: string | undefined;
  readonly #streamed: boolean;

  constructor(streamed: boolean) {
    this.#streamed = streamed;
  }

  /** Approximate bytes of the answer that arrived. */
  get answerBytes(): number {
    return this.#streamed ? this.outputBytes : this.receivedBytes;
  }
}
