import type { TokenUsage } from "@beckon/contract";

/**
 * Statuses with which gateways end a request on which they have waited too long for the answer. 524
 * is Cloudflare's.
 */
const gatewayTimeouts = new Set([408, 504, 524]);

/**
 * Returns whether a gateway stopped waiting for the answer. The provider may have generated it, and
 * may bill it.
 */
export function isGatewayTimeout(status: number | undefined): boolean {
  return status !== undefined && gatewayTimeouts.has(status);
}

/** Returns a text of a provider with a full stop, so that another sentence can follow. */
export function asSentence(text: string): string {
  return text.replace(/[^.!?]$/, "$&.");
}

/**
 * The failure of a model call that got no complete answer. The message is shown to the caller of
 * the run and logged, so it must not contain a key, header, URL or text of the run.
 */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly kind: "error" | "timeout";
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /**
   * Whether the provider is unreachable: the connection failed, a timeout passed, or the status is
   * 500 or more.
   */
  readonly unreachable: boolean;
  /** The wait in milliseconds that the provider requested; undefined if it requested none. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the provider answered with an error. Such a call is not billed, except for the usage in
   * `usage`.
   */
  readonly rejected: boolean;
  /**
   * Whether the provider rejected the call because of too many requests, and probably accepts it
   * within minutes. Such a call did not use anything.
   */
  readonly rateLimited: boolean;
  /** Usage that the provider reports together with its error; undefined if it reports none. */
  readonly usage: TokenUsage | undefined;
  /**
   * Status of the provider's error response or, of an error in a 200, the status that it names;
   * undefined if there was none.
   */
  readonly status: number | undefined;
  /**
   * What the model wrote, or a server behind the provider sent, as one or more sentences without
   * keys. It can contain texts of the run, so those who read the run see it and no log line has it.
   * Undefined if there is nothing.
   */
  readonly quoted: string | undefined;

  constructor(
    message: string,
    options: {
      kind?: "error" | "timeout";
      retryable: boolean;
      unreachable?: boolean;
      retryAfterMs?: number | undefined;
      rejected?: boolean;
      rateLimited?: boolean;
      usage?: TokenUsage | undefined;
      status?: number | undefined;
      quoted?: string | undefined;
    },
  ) {
    super(message);
    this.kind = options.kind ?? "error";
    this.retryable = options.retryable;
    this.unreachable = options.unreachable ?? options.kind === "timeout";
    this.retryAfterMs = options.retryAfterMs;
    this.rejected = options.rejected ?? false;
    this.rateLimited = options.rateLimited ?? false;
    this.usage = options.usage;
    this.status = options.status;
    this.quoted = options.quoted;
  }

  /** The message with `quoted`, for the error of the run and its subscribers. */
  get messageForCaller(): string {
    if (this.quoted === undefined) return this.message;
    return `${asSentence(this.message)} ${this.quoted}`;
  }
}
