import type { TokenUsage } from "@beckon/contract";
import { elapsed } from "../../base/clock.ts";

/**
 * What is known about one attempt of a model call, even if it fails. This is a class and not an
 * object with closures, because there is one for each attempt and an instance costs less garbage
 * collection (docs/decisions/0012-what-is-brief-dies-young.md).
 */
export class AttemptRecord {
  /** Whether the provider's library made a request. The demo model makes none. */
  isRequested = false;
  /** Bytes of the response. */
  receivedBytes = 0;
  /** Usage that a complete response reports; undefined if there is no such response. */
  usage: TokenUsage | undefined;
  /** The model that answered, as the provider names it; undefined if it does not name it. */
  responseModel: string | undefined;
  readonly #streamed: boolean;
  #outputBytes = 0;
  #sentAt: number | undefined;
  #outputAt: number | undefined;

  constructor(streamed: boolean) {
    this.#streamed = streamed;
  }

  /** Records that the request is written to an open connection. */
  sent(): void {
    this.#sentAt ??= elapsed();
  }

  /** Records `bytes` bytes of text, reasoning or arguments of tool calls of a streamed response. */
  addOutput(bytes: number): void {
    this.#outputBytes += bytes;
    if (bytes > 0) this.#outputAt ??= elapsed();
  }

  /** Whether the request was written to a connection, so the provider may have received it. */
  get isSent(): boolean {
    return this.#sentAt !== undefined;
  }

  /** Bytes of text, reasoning and arguments of tool calls that a streamed response contained. */
  get outputBytes(): number {
    return this.#outputBytes;
  }

  /**
   * Milliseconds from the request until the first output of a streamed response, or until now if
   * there is none. Without streaming, output arrives only when all of it is written, so this is
   * always the time until now. During this time, the model can write output that never arrives.
   */
  get silentMs(): number {
    return this.#sentAt === undefined ? 0 : (this.#outputAt ?? elapsed()) - this.#sentAt;
  }

  /** Approximate bytes of the answer that arrived. */
  get answerBytes(): number {
    return this.#streamed ? this.outputBytes : this.receivedBytes;
  }
}
