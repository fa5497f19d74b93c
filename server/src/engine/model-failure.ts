/**
 * A model call without a complete answer. The message is shown to the caller of the run: no key,
 * header or URL.
 */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly kind: "error" | "timeout";
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /**
   * Whether the provider is unreachable: connection failed, timeout, or a status of 500 or more.
   */
  readonly unreachable: boolean;
  /** Wait that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: {
      kind?: "error" | "timeout";
      retryable: boolean;
      unreachable?: boolean;
      retryAfterMs?: number | undefined;
    },
  ) {
    super(message);
    this.kind = options.kind ?? "error";
    this.retryable = options.retryable;
    this.unreachable = options.unreachable ?? options.kind === "timeout";
    this.retryAfterMs = options.retryAfterMs;
  }
}
