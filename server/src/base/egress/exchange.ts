import { type Dispatcher, errors } from "undici";
import { type ByteMeter, meterOf } from "./byte-meter.ts";

export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: RawHeaders;
}

type RawHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

export interface ExchangeLimits {
  /** Milliseconds from the call to the end of its answer; undefined: no limit. */
  readonly totalTimeoutMs: number | undefined;
  /** Bytes of the answer's body, unless the call has a meter. */
  readonly maxResponseBytes: number;
}

/**
 * One request on its way: hears from undici and settles the promise of a call. What every call keeps to is here: it ends at once
 * when its signal aborts or its time is over, and takes no encoded body. What becomes of the answer is said by the classes that
 * extend it.
 */
export abstract class Exchange<Answer> implements Dispatcher.DispatchHandler {
  protected readonly resolve: (answer: Answer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal?.reason);
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #meter: ByteMeter | undefined;
  /** Bytes of the body that may still come. */
  #leftBytes: number;
  #controller: Dispatcher.DispatchController | undefined;
  /** Why it was given up from this side. */
  #stopped: Error | undefined;

  constructor(
    signal: AbortSignal | undefined,
    { totalTimeoutMs, maxResponseBytes }: ExchangeLimits,
    resolve: (answer: Answer) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#meter = meterOf(signal);
    this.#leftBytes = this.#meter === undefined ? maxResponseBytes : Infinity;
    this.resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (totalTimeoutMs !== undefined)
      this.#timer = setTimeout(() => this.#stop(outOfTime(totalTimeoutMs)), totalTimeoutMs);
  }

  /** The head of the answer has come. Called once, before the others, and never for an answer that is refused. */
  protected abstract begin(head: Head, controller: Dispatcher.DispatchController): void;
  protected abstract take(chunk: Buffer): void;
  protected abstract finish(): void;
  /** The call has failed and its promise is rejected, unless it had been resolved; may be called more than once. */
  protected abstract breakOff(reason: unknown): void;

  /** Settles at once: undici itself would first wait for the connection that is being opened. */
  #stop(reason: unknown): void {
    this.#stopped = asError(reason);
    this.#fail(reason);
    this.#controller?.abort(this.#stopped);
  }

  #fail(reason: unknown): void {
    this.#over();
    this.#reject(reason);
    this.breakOff(reason);
  }

  #over(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped !== undefined) controller.abort(this.#stopped);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: RawHeaders,
    statusText = "",
  ): void {
    if (status < 200 || this.#stopped !== undefined) return;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") {
      controller.abort(
        Object.assign(new Error("the body is encoded"), { code: "BECKON_ENCODED_BODY" }),
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
    this.#meter?.received(chunk.length);
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

/** Statuses whose answers have no body, whatever is sent after the head. */
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
