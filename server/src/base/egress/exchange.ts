import { type Dispatcher, errors } from "undici";
import { type ByteMeter, meterOf } from "./byte-meter.ts";

export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: RawHeaders;
}

type RawHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

export interface ExchangeLimits {
  /** Maximum milliseconds from the call to the end of the response; undefined: no limit. */
  readonly totalTimeoutMs: number | undefined;
  /** Maximum bytes of the response body, unless a meter counts them (`byte-meter.ts`). */
  readonly maxResponseBytes: number;
}

/**
 * One request in flight: handles undici's callbacks and resolves or rejects the promise of the
 * call. This class implements what all calls have in common: abort by signal, the time limit, the
 * byte limit and the rejection of encoded bodies. Subclasses handle the response.
 */
export abstract class Exchange<Result> implements Dispatcher.DispatchHandler {
  protected readonly resolve: (result: Result) => void;
  /** Whether a body with a content encoding is accepted. It is not decoded. */
  protected readonly acceptsEncoded: boolean = false;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal?.reason);
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #meter: ByteMeter | undefined;
  /**
   * Number of bytes that the body can still have before it exceeds `maxResponseBytes`. Infinity if
   * a meter counts them.
   */
  #leftBytes: number;
  #controller: Dispatcher.DispatchController | undefined;
  /** Why this process aborted the request; undefined if it did not. */
  #stopped: Error | undefined;

  constructor(
    signal: AbortSignal | undefined,
    { totalTimeoutMs, maxResponseBytes }: ExchangeLimits,
    resolve: (result: Result) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#meter = meterOf(signal);
    this.#leftBytes = this.#meter?.received === undefined ? maxResponseBytes : Infinity;
    this.resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (totalTimeoutMs !== undefined)
      this.#timer = setTimeout(() => this.#stop(outOfTime(totalTimeoutMs)), totalTimeoutMs);
  }

  /**
   * Called once with the response head, before `take` and `finish`. Not called if the response is
   * rejected.
   */
  protected abstract begin(head: Head, controller: Dispatcher.DispatchController): void;
  protected abstract take(chunk: Buffer): void;
  protected abstract finish(): void;
  /** Called before the call's promise is rejected. It can resolve the promise instead. */
  protected beforeFailure(): void {}
  /**
   * Called when the call has failed, possibly more than once. The call's promise has been rejected
   * by then, unless it was resolved before.
   */
  protected abstract fail(reason: unknown): void;

  /**
   * Rejects the call's promise at once and aborts the request. Aborting alone is not enough: while
   * a connection is being opened, undici reports the abort only after the connection is open or has
   * failed.
   */
  #stop(reason: unknown): void {
    this.#stopped = asError(reason);
    this.#fail(reason);
    this.#controller?.abort(this.#stopped);
  }

  #fail(reason: unknown): void {
    this.#over();
    this.beforeFailure();
    this.#reject(reason);
    this.fail(reason);
  }

  #over(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped === undefined) this.#meter?.sent();
    else controller.abort(this.#stopped);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: RawHeaders,
    statusText = "",
  ): void {
    if (status < 200 || this.#stopped !== undefined) return;
    if (
      !this.acceptsEncoded &&
      !isBodiless(status) &&
      codingsOf(headers["content-encoding"]).length > 0
    ) {
      controller.abort(
        Object.assign(
          new Error("the response body has a content encoding. Only identity is accepted"),
          { code: "BECKON_ENCODED_BODY" },
        ),
      );
      return;
    }
    this.begin({ status, statusText, headers }, controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#leftBytes -= chunk.length;
    if (this.#leftBytes < 0) {
      controller.abort(new errors.ResponseExceededMaxSizeError());
      return;
    }
    this.#meter?.received?.(chunk.length);
    if (this.#stopped === undefined) this.take(chunk);
  }

  onResponseEnd(): void {
    this.#over();
    this.finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }
}

/**
 * Returns the content codings in the header `Content-Encoding`, in lower case and without
 * `identity` (RFC 9110, section 8.4).
 */
export function codingsOf(header: string | string[] | null | undefined): string[] {
  return String(header ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** Returns whether responses with this status have no body (RFC 9110). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function outOfTime(ms: number): Error {
  return Object.assign(new Error(`the call took longer than ${ms} ms`), {
    code: "BECKON_TOTAL_TIMEOUT",
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
