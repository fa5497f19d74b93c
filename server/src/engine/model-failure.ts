/** A model call that brought no whole answer. The message is for the caller of the run: no key, no header, no URL. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly kind: "error" | "timeout";
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whether it shows that nobody is there to answer: no connection, no answer in time, a status of 500 or more. */
  readonly down: boolean;
  /** How long the provider asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: {
      kind?: "error" | "timeout";
      retryable: boolean;
      down?: boolean;
      retryAfterMs?: number | undefined;
    },
  ) {
    super(message);
    this.kind = options.kind ?? "error";
    this.retryable = options.retryable;
    this.down = options.down ?? options.kind === "timeout";
    this.retryAfterMs = options.retryAfterMs;
  }
}
